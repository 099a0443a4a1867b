/** Bugs around a clock that steps back and limits that are changed: times that stay ahead. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const prelude = 'src/stores/redis/lua/prelude.lua';

export const clock = [
  {
    name: 'clock: a changed rate starts nothing until the old one has room',
    file: 'src/core/operations/throttles.ts',
    find: '    fitRate(table, queue, now);\n',
    replace: '    void fitRate;\n    void now;\n',
    suites: memory,
  },
  {
    name: 'clock: a rate stands still after a step back',
    file: 'src/core/operations/clock-step.ts',
    find: 'for (const queue of table.queues()) fitRate(table, queue, now);',
    replace: 'void fitRate;',
    suites: sqlite,
  },
  {
    name: 'redis: a changed rate starts nothing until the old one has room',
    file: prelude,
    find: "write('HDEL', P .. 'rates', queue) end\n    if rate then",
    replace: "write('HDEL', P .. 'rates', queue) end\n    if false then",
    suites: redis,
  },
  {
    name: 'redis: a rate stands still after a step back',
    file: prelude,
    find: '  throttles.fitRates()\n',
    replace: '',
    suites: redis,
  },
];
