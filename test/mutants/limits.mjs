/** Seeded bugs of resources and coalescing. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const rules = 'src/core/limits/coalesce.ts';
const operations = 'src/core/operations/coalescing.ts';
const needs = 'src/core/operations/resources.ts';

export const limits = [
  {
    name: 'resources: a claim of several queues uses its free capacity once per queue',
    file: 'src/core/operations/claim.ts',
    find: '...remainingCapacity(table, request, jobs), limit',
    replace: 'limit',
    suites: memory,
  },
  {
    name: 'resources: a job that did not fit is never tried again',
    file: needs,
    find: 'table.unpark(address, queue, 1)).some(',
    replace: 'table.parkedCount(address) * 0).some(',
    suites: memory,
  },
  {
    name: 'resources: small jobs overtake a large one without limit',
    file: needs,
    find: 'now - readySince(first) < PATIENCE_MS',
    replace: 'now - readySince(first) < 1_000 * PATIENCE_MS',
    suites: memory,
  },
  {
    name: 'resources: a coalesced job does not unpark the next',
    file: 'src/core/operations/claim.ts',
    find: "(needs !== '' || started.folded > 0)",
    replace: "needs !== ''",
    suites: memory,
  },
  {
    name: 'resources: a job that is parked under a throttle does not unpark the next',
    file: 'src/core/operations/claim.ts',
    find: 'const hasLeftRoom = full !== undefined &&',
    replace: 'const hasLeftRoom = full === undefined &&',
    suites: memory,
  },
  {
    name: 'redis: a coalesced job does not unpark the next',
    file: 'src/stores/redis/lua/operations/claim.lua',
    find: "if needs == '' and not isCoalesced then return false end",
    replace: "if needs == '' then return isCoalesced end",
    suites: redis,
  },
  {
    name: 'redis: a job that is parked under a throttle does not unpark the next',
    file: 'src/stores/redis/lua/operations/claim.lua',
    find: "return require('parking').unparkBehind(job) or hasLeftRoom",
    replace: "return require('parking').unparkBehind(job)",
    and: { find: 'local hasLeftRoom = isThrottled and', replace: 'local hasLeftRoom = false and' },
    suites: redis,
  },
  {
    name: 'resources: of many different needs the last are never tried',
    file: 'src/core/limits/resources.ts',
    find: 'Math.floor(now / NEEDS_ROTATION_MS)',
    replace: '0 * Math.floor(now / NEEDS_ROTATION_MS)',
    suites: memory,
  },
  {
    name: 'redis: of many different needs the last are never tried',
    file: 'src/stores/redis/lua/lib/limits/fitting.lua',
    find: 'local from = math.floor(context.now / K.NEEDS_ROTATION_MS)',
    replace: 'local from = 0 * math.floor(context.now / K.NEEDS_ROTATION_MS)',
    suites: redis,
  },
  {
    name: 'sqlite: of many different needs the last are never tried',
    file: 'src/stores/sqlite/tables/throttle-rows.ts',
    find: 'const to = found[MAX_NEEDS - 1] ?? start;',
    replace: 'const to = start;',
    suites: sqlite,
  },
  {
    name: 'sqlite: stale needs of deleted jobs block the others',
    file: 'src/stores/sqlite/tables/throttle-rows.ts',
    find: 'if (isParked === 1) {',
    replace: 'if (isParked !== undefined) {',
    suites: sqlite,
  },
  {
    name: 'redis: a claimed job uses no capacity of its worker',
    file: 'src/stores/redis/lua/lib/limits/resources.lua',
    find: 'room[unit] = (room[unit] or 0) - count end',
    replace: 'room[unit] = (room[unit] or 0) - 0 * count end',
    suites: redis,
  },
  {
    name: 'coalescing: a coalesced job is done when its leader fails',
    file: rules,
    find: 'if (!COMPLETIONS.has(event)) return',
    replace: "if (!COMPLETIONS.has(event) && event !== 'failed') return",
    suites: memory,
  },
  {
    name: 'coalescing: a coalesced job is coalesced again',
    file: rules,
    find: "return job.state === 'waiting' && !isBlocked(job) ?",
    replace: "return job.state === 'waiting' ?",
    suites: memory,
  },
  {
    name: 'coalescing: coalesced jobs do not return when the lease of their leader is lost',
    file: operations,
    find: "if (before.folded === 0 || before.state !== 'running' || leader.state === 'running') return [];",
    replace: "if (before.folded === 0 || before.state !== 'running' || row.event === 'lost') return [];",
    suites: memory,
  },
  {
    name: 'coalescing: a coalesced job stays coalesced when its data changes',
    file: 'src/core/lifecycle/lifecycle.ts',
    find: 'foldedInto: needsOpen ? null : job.foldedInto,',
    replace: 'foldedInto: job.foldedInto,',
    suites: memory,
  },
  {
    name: 'coalescing: a coalesced job keeps a unique key that ends with the start',
    file: operations,
    find: "if (job.unique?.until === 'started') table.releaseKey",
    replace: "if (job.unique?.until === 'period') table.releaseKey",
    suites: memory,
  },
  {
    name: 'sqlite: a delayed job is coalesced too early',
    file: 'src/stores/sqlite/tables/coalesced-rows.ts',
    find: 'before?.runAt !== after?.runAt ||',
    replace: '',
    suites: sqlite,
  },
  {
    name: 'redis: dependents of a coalesced job are not released',
    file: 'src/stores/redis/lua/lib/limits/coalescing.lua',
    find: 'if hasDependents then table.insert(leader.followers',
    replace: 'if not hasDependents then table.insert(leader.followers',
    suites: redis,
  },
  {
    name: 'redis: the number of coalesced jobs outlives the attempt',
    file: 'src/stores/redis/lua/lib/lifecycle/lifecycle.lua',
    find: "if job.place ~= 'd' then fields.folded = nil end",
    replace: "if job.place == 'x' then fields.folded = nil end",
    suites: redis,
  },
];
