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
  {
    name: 'clock: jobs wait for a time that was ahead',
    file: 'src/core/operations/clock-step.ts',
    find: 'if (table.clockStep() !== null && table.closed() === null) rebaseSome(table, now);',
    replace: 'void rebaseSome;',
    suites: memory,
  },
  {
    name: 'clock: a time that a producer gave is moved',
    file: 'src/core/lifecycle/lifecycle.ts',
    find: 'job.delayMs ?? (job.runAt === job.createdAt ? 0 : null)',
    replace: 'job.delayMs ?? 0',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'clock: a draft waits for the time of its birth',
    file: 'src/core/lifecycle/lifecycle.ts',
    find: 'job.runAt !== job.createdAt && job.runAt > due.runAt',
    replace: 'job.runAt > due.runAt',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'sqlite: only the first page of jobs follows a step back',
    file: 'src/stores/sqlite/tables/waiting-jobs.ts',
    find: 'rows.length < limit ? null',
    replace: 'rows.length <= limit ? null',
    suites: ['test/contract/sqlite.test.ts'],
  },
  {
    name: 'sqlite: retries do not follow a step back',
    file: 'src/stores/sqlite/tables/waiting-jobs.ts',
    find: `(run_at = created_at OR rest LIKE '%"delayMs":%')`,
    replace: 'run_at = created_at',
    suites: sqlite,
  },
  {
    name: 'sqlite: a restart forgets a step back',
    file: 'src/stores/sqlite/tables/store-numbers.ts',
    find: 'this.clockStep = stepFrom === null || afterSeq === null ? null : { from: stepFrom, afterSeq };',
    replace: 'void [stepFrom, afterSeq];',
    suites: ['src/stores/sqlite/open-sqlite-store.test.ts'],
  },
  {
    name: 'redis: retries do not follow a step back',
    file: prelude,
    find: 'local delayMs = tonumber(job.fields.delayMs) or (not job.fields.runAt and 0)',
    replace: 'local delayMs = not job.fields.runAt and 0',
    suites: redis,
  },
  {
    name: 'redis: what was due before a step back is started after it',
    file: prelude,
    find: "(place == 'w' and runAt > clock.now and runAt <= clock.high)",
    replace: 'false',
    suites: redis,
  },
  {
    name: 'redis: only the first pieces of jobs follow a step back',
    file: prelude,
    find: 'if #pieces < most then',
    replace: 'if #pieces <= most then',
    suites: ['test/contract/redis.test.ts'],
  },
];
