/** Bugs in moving house, in imports, and in files on their way. */
const unit = ['src/node/migration/migrate-store.test.ts'];
const memory = ['test/contract/memory.test.ts'];

export const moving = [
  {
    name: 'moving: what hangs on a job that runs goes without it',
    file: 'src/node/migration/migrate-store.ts',
    find: "return job.state !== 'running' && !this.#left.has(job.id);",
    replace: "return job.state !== 'running';",
    suites: unit,
  },
  {
    name: 'moving: what was left behind is forgotten',
    file: 'src/node/migration/migrate-store.ts',
    find: 'const left = [...this.#left];',
    replace: 'const left: string[] = [];',
    suites: unit,
  },
  {
    name: 'moving: files that came meanwhile stay where they were',
    file: 'src/node/migration/migrate-store.ts',
    find: 'const parts = await this.#compareAll();\n    await this.#options.bringFiles();',
    replace: 'const parts = await this.#compareAll();',
    suites: unit,
  },
  {
    name: 'moving: the old store is not over when the new one opens',
    file: 'src/node/migration/migrate-store.ts',
    find: "    await this.#swap(from, { ...source, state: 'over', at: now(), left }, source);\n",
    replace: '',
    suites: unit,
  },
  {
    name: 'moving: a file that is not the same at the new home is left so',
    file: 'src/node/migration/copy-files.ts',
    find: '&& (await hashOf(file.to)) === sha256) return true;',
    replace: ') return true;',
    suites: ['src/node/migration/copy-files.test.ts'],
  },
  {
    name: 'moving: numbers that were given are given again',
    file: 'src/core/operations/migrate.ts',
    find: '  migrationRows.raise(numbers);\n',
    replace: '',
    suites: memory,
  },
  {
    name: 'moving: whoever asks may fill a store that is being filled',
    file: 'src/core/operations/migrate.ts',
    find: 'standing?.move === move && roles',
    replace: 'standing !== null && roles',
    suites: memory,
  },
  {
    name: 'redis: a queue that moved in has lost its hooks',
    file: 'src/stores/redis/lua/moving-write.lua',
    find: '  if isHooked then outbox.mark(key, true) end\n',
    replace: '',
    suites: ['test/contract/redis.test.ts'],
  },
  {
    name: 'importing: one that was killed leaves the store closed for good',
    file: 'src/importers/import-jobs.ts',
    find: 'if (ended.length > 0 || (await isLeftClosed(store)))',
    replace: 'if (ended.length > 0)',
    suites: ['src/importers/import-jobs.test.ts'],
  },
  {
    name: 'uploads: one that was begun again for nothing keeps a draft from its commit',
    file: 'src/files/attachments/attachment-uploads.ts',
    find: 'if (await this.#isAttached(id, name)) continue;',
    replace: '',
    suites: ['src/files/attachments/attachment-uploads.test.ts'],
  },
];
