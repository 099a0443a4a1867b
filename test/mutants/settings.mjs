/** Seeded bugs of the settings of every queue: not inherited, not overridden, or cached too long. */
export const settings = [
  {
    name: 'settings of every queue: the cache is not cleared after a change',
    file: 'src/stores/sqlite/tables/sqlite-records.ts',
    find: 'if (key === GLOBAL_SETTINGS_KEY) this.#settings.clear();',
    replace: '',
    suites: ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'],
  },
  {
    name: 'settings of every queue: the fast path ignores them',
    file: 'src/stores/redis/lua/lib/fastpath/fast-settings.lua',
    find: 'for i = 1, 2 do',
    replace: 'for i = 2, 2 do',
    suites: ['test/contract/redis.test.ts', 'test/model/redis.test.ts'],
  },
  {
    name: 'settings of every queue: parked jobs do not return after a change',
    file: 'src/stores/redis/lua/lib/limits/limit-changes.lua',
    find: "if kind == 'queue' and key == '*' then",
    replace: "if kind == 'queue' and key == '-' then",
    suites: ['test/contract/redis.test.ts', 'test/model/redis.test.ts'],
  },
  {
    name: 'settings of every queue: retention of one state hides the others',
    file: 'src/core/settings/settings.ts',
    find: 'layers.find((each) => each?.[kind] !== undefined)?.[kind]',
    replace: 'layers.find((each) => each !== undefined)?.[kind]',
    suites: ['test/contract/memory.test.ts'],
  },
];
