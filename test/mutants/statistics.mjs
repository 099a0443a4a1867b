/** Seeded bugs of the log of statistics: entries that readers miss, that are counted twice, or that are lost. */
const aggregates = 'src/stores/redis/lua/lib/aggregates.lua';
const aggregateLog = 'src/stores/redis/lua/lib/aggregate-log.lua';
const redis = ['test/contract/redis.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts'];

export const statistics = [
  {
    name: 'statistics: readers miss the oldest pending entry (redis)',
    file: 'src/stores/redis/lua/lib/statistics-log.lua',
    find: 'list.sum = sumFrom(list, 1, math.huge)',
    replace: 'list.sum = sumFrom(list, 2, math.huge)',
    suites: redis,
  },
  {
    name: 'statistics: entries stay pending after they were aggregated (redis)',
    file: aggregateLog,
    find: "set[#set + 1], set[#set + 2] = '+', '0'",
    replace: "set[#set + 1], set[#set + 2] = '+', list.count",
    and: { find: "    write('HDEL', P .. 'j', unpack(", replace: '    local _ = ((' },
    suites: redis,
  },
  {
    name: 'statistics: the log is emptied in a write before that of the cells (redis)',
    file: aggregateLog,
    find: "set[#set + 1], set[#set + 2] = '+', '0'",
    replace: "write('HSET', P .. 'j', '+', '0')",
    suites: ['test/faults/lua-abort.test.ts'],
  },
  {
    name: 'statistics: new cells of one aggregation do not count for the limit of a day (redis)',
    file: aggregates,
    find: 'rooms[key] = rooms[key] + 1',
    replace: '',
    suites: redis,
  },
  {
    name: 'statistics: a migration misses a day of which all entries are pending (redis)',
    file: 'src/stores/redis/lua/reads/migration-read.lua',
    find: 'if own > tonumber(after) then day = math.min(day, own) end',
    replace: '',
    suites: redis,
  },
  {
    name: 'statistics: maintenance prunes cells without the pending entries (redis)',
    file: 'src/stores/redis/lua/operations/maintain.lua',
    find: 'aggregateLog()\n',
    replace: '',
    suites: redis,
  },
  {
    name: 'statistics: what was pending is added to migrated cells (redis)',
    file: 'src/stores/redis/lua/operations/migration-write.lua',
    find: "if part == 'statistics' or part == 'queues' then aggregateLog() end",
    replace: '',
    suites: redis,
  },
  {
    name: 'statistics: too many pending entries are not aggregated (sqlite)',
    file: 'src/stores/sqlite/tables/sqlite-table.ts',
    find: 'if (this.#log.save()) this.aggregateStatistics();',
    replace: 'this.#log.save();',
    suites: ['src/stores/sqlite/tables/statistics-log.test.ts'],
  },
  {
    name: 'statistics: throughput leaves out pending entries (sqlite)',
    file: 'src/stores/sqlite/tables/sqlite-table.ts',
    find: 'this.#series.pages(queue, { span, first }, this.#log.pending())',
    replace: 'this.#series.pages(queue, { span, first }, [])',
    suites: sqlite,
  },
  {
    name: 'statistics: a migration misses a day of which all entries are pending (sqlite)',
    file: 'src/stores/sqlite/tables/migration-rows.ts',
    find: 'new Map([...stored, ...pending].map(',
    replace: 'new Map(stored.map(',
    suites: sqlite,
  },
  {
    name: 'statistics: what was pending is added to migrated cells (sqlite)',
    file: 'src/stores/sqlite/tables/migration-rows.ts',
    find: "if (part === 'queues' || part === 'statistics') table.aggregateStatistics();",
    replace: '',
    suites: sqlite,
  },
];
