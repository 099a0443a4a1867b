/** Seeded bugs of rates and pauses of throttles. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const rules = 'src/core/limits/bucket.ts';
const operations = 'src/core/operations/limits/buckets.ts';
const lua = 'src/stores/redis/lua/';

export const throttleRates = [
  {
    name: 'throttle rates: all keys share one bucket',
    file: rules,
    find: "(keyIn(data, by) ?? '')",
    replace: "(keyIn(data, by) === null ? '' : '')",
    suites: memory,
  },
  {
    name: 'throttle rates: a cost above the rate waits for ever',
    file: rules,
    find: 'cost: Math.min(given > 0 ? given : 1, rate?.count ?? 1)',
    replace: 'cost: given > 0 ? given : 1',
    suites: memory,
  },
  {
    name: 'throttle rates: a negative cost fills the bucket',
    file: rules,
    find: 'Math.min(given > 0 ? given : 1, rate?.count ?? 1)',
    replace: 'Math.min(given, rate?.count ?? 1)',
    suites: memory,
  },
  {
    name: 'throttle rates: cheaper jobs overtake for ever',
    file: operations,
    find: 'if (state.until < until) table.setBucket',
    replace: 'if (state.until > until) table.setBucket',
    suites: memory,
  },
  {
    name: 'throttle rates: a claim does not report when a bucket opens',
    file: 'src/core/operations/claim.ts',
    find: 'startAt, table.nextWake(queue, now)]',
    replace: 'startAt]',
    suites: memory,
  },
  {
    name: 'throttle rates: jobs behind one that is parked elsewhere are overtaken',
    file: 'src/core/operations/claim.ts',
    find: 'const isOpen = slots.length > 0 && isOther && unparkOpen(table, queue, 1, now);',
    replace: 'const isOpen = slots.length > 20 && isOther && unparkOpen(table, queue, 1, now);',
    suites: memory,
  },
  {
    name: 'throttle rates: a shorter pause ends a longer one',
    file: rules,
    find: 'until: Math.max(state.until, until)',
    replace: 'until',
    suites: memory,
  },
  {
    name: 'throttle rates: a clock that is set back keeps buckets closed',
    file: 'src/core/operations/clock-step.ts',
    find: '  table.rebaseBuckets(now);\n',
    replace: '',
    suites: memory,
  },
  {
    name: 'throttle rates: a change of a throttle wakes no job',
    file: operations,
    find: 'table.parkedCount(park) > 0 ? now : null',
    replace: 'null',
    suites: memory,
  },
  {
    name: 'throttle rates: a bucket of an earlier version counts',
    file: rules,
    find: 'state === undefined || state.version !== version',
    replace: 'state === undefined',
    suites: memory,
  },
  {
    name: 'sqlite: maintenance deletes buckets that are in use',
    file: 'src/stores/sqlite/bucket-rows.ts',
    find: 'INDEXED BY buckets_idle WHERE max(at, until) <= ? LIMIT',
    replace: 'WHERE min(at, until) <= ? LIMIT',
    suites: sqlite,
  },
  {
    name: 'sqlite: the wake times of buckets are never due',
    file: 'src/stores/sqlite/bucket-rows.ts',
    find: 'WHERE queue = ? AND at <= ?',
    replace: 'WHERE queue = ? AND at < ? - 1000',
    suites: sqlite,
  },
  {
    name: 'redis: the fast path ignores the rate of a throttle',
    file: `${lua}lib/fastpath/fast-limits.lua`,
    find: "if settings.rate or call('HEXISTS'",
    replace: "if call('HEXISTS'",
    suites: redis,
  },
  {
    name: 'redis: the fast path ignores the pause of a throttle',
    file: `${lua}lib/fastpath/fast-limits.lua`,
    find: "if settings.rate or call('HEXISTS', P .. 'j', '!' .. throttle.address) == 1 then",
    replace: 'if settings.rate then',
    suites: redis,
  },
  {
    name: 'redis: a job takes nothing from its bucket',
    file: `${lua}operations/claim.lua`,
    find: "      require('buckets').takeCost(used)\n",
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: a job that is parked under a bucket is not woken by time',
    file: `${lua}lib/limits/bucket-parking.lua`,
    find: "'(0', context.nowText, 'LIMIT'",
    replace: "'(0', '(1', 'LIMIT'",
    suites: redis,
  },
  {
    name: 'redis: a clock that is set back keeps buckets closed',
    file: `${lua}lib/limits/rates.lua`,
    find: '    if ahead > 0 then\n',
    replace: '    if ahead > 1e15 then\n',
    suites: redis,
  },
  {
    name: 'redis: a change of a throttle wakes no job that waits for its rate',
    file: `${lua}lib/limits/limit-changes.lua`,
    find: "if (park .. ' '):sub(1, #start) == start then",
    replace: 'if park == start then',
    suites: redis,
  },
];
