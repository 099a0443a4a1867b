/** Seeded bugs of backward clock steps and changed limits: stored times stay in the future. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
/** A process that is frozen with the lock of the file. */
const frozen = ['test/processes/sqlite-file.test.ts'];
export const clock = [
  {
    name: 'clock: a lease that ends while the store is locked is taken at once',
    file: 'src/core/lifecycle/clock.ts',
    find: 'locked.to - from > LOCKED_GAP_MS',
    replace: 'locked.to - from > GAP_MS',
    suites: ['src/core/lifecycle/clock.test.ts', ...frozen],
  },
  {
    name: 'clock: an engine that did not wait for the lock does not know that others did',
    file: 'src/stores/sqlite/engine/clock-file.ts',
    find: 'return length < this.#locked.byteLength ? NO_GAP : { from, to };',
    replace: 'void [length, from, to];\n    return NO_GAP;',
    suites: frozen,
  },
  {
    name: 'clock: a changed rate limit starts no job until the old limit allows it',
    file: 'src/core/operations/throttles.ts',
    find: '    fitRate(table, queue, now);\n',
    replace: '    void fitRate;\n    void now;\n',
    suites: memory,
  },
  {
    name: 'clock: a rate limit blocks jobs after a backward clock step',
    file: 'src/core/operations/clock-step.ts',
    find: 'for (const queue of table.queues()) fitRate(table, queue, now);',
    replace: 'void fitRate;',
    suites: sqlite,
  },
  {
    name: 'redis: a changed rate limit starts no job until the old limit allows it',
    file: 'src/stores/redis/lua/lib/limits/limit-changes.lua',
    find: "write('HDEL', P .. 'rates', queue) end\n  if rate then",
    replace: "write('HDEL', P .. 'rates', queue) end\n  if false then",
    suites: redis,
  },
  {
    name: 'redis: a rate limit blocks jobs after a backward clock step',
    file: 'src/stores/redis/lua/lib/lifecycle/clock-step.lua',
    find: '  rates.fitRates()\n',
    replace: '',
    suites: redis,
  },
  {
    name: 'clock: jobs keep run times of the clock before the step',
    file: 'src/core/operations/clock-step.ts',
    find: 'if (table.clockStep() !== null && table.closed() === null) rebaseSome(table, now);',
    replace: 'void rebaseSome;',
    suites: memory,
  },
  {
    name: 'clock: the run time that a producer set is moved',
    file: 'src/core/lifecycle/lifecycle.ts',
    find: 'job.delayMs ?? (job.runAt === job.createdAt ? 0 : null)',
    replace: 'job.delayMs ?? 0',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'clock: a committed draft waits for its creation time',
    file: 'src/core/lifecycle/lifecycle.ts',
    find: 'job.runAt !== job.createdAt && job.runAt > due.runAt',
    replace: 'job.runAt > due.runAt',
    suites: ['test/contract/memory.test.ts'],
  },
  {
    name: 'sqlite: only the first page of jobs is re-based after a backward clock step',
    file: 'src/stores/sqlite/tables/waiting-jobs.ts',
    find: 'rows.length < limit ? null',
    replace: 'rows.length <= limit ? null',
    suites: ['test/contract/sqlite.test.ts'],
  },
  {
    name: 'sqlite: retries are not re-based after a backward clock step',
    file: 'src/stores/sqlite/tables/waiting-jobs.ts',
    find: `(run_at = created_at OR rest LIKE '%"delayMs":%')`,
    replace: 'run_at = created_at',
    suites: sqlite,
  },
  {
    name: 'sqlite: a restart forgets an unfinished backward clock step',
    file: 'src/stores/sqlite/tables/store-numbers.ts',
    find: 'this.clockStep = stepFrom === null || afterSeq === null ? null : { from: stepFrom, afterSeq };',
    replace: 'void [stepFrom, afterSeq];',
    suites: ['src/stores/sqlite/open-sqlite-store.test.ts'],
  },
  {
    name: 'redis: retries are not re-based after a backward clock step',
    file: 'src/stores/redis/lua/lib/lifecycle/clock-step.lua',
    find: 'local delayMs = tonumber(job.fields.delayMs) or (not job.fields.runAt and 0)',
    replace: 'local delayMs = not job.fields.runAt and 0',
    suites: redis,
  },
  {
    name: 'redis: a job that was due before a backward clock step starts after it',
    file: 'src/stores/redis/lua/lib/lifecycle/clock-step.lua',
    find: "(place == 'w' and runAt > context.now and runAt <= context.high)",
    replace: 'false',
    suites: redis,
  },
  {
    name: 'redis: only the first pieces of jobs are re-based after a backward clock step',
    file: 'src/stores/redis/lua/lib/lifecycle/clock-step.lua',
    find: 'if #pieces < most then',
    replace: 'if #pieces <= most then',
    suites: ['test/contract/redis.test.ts'],
  },
];
