/** Seeded bugs of dependencies: releases that come too early, too late or not at all, and failures that do not propagate. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const rules = 'src/core/lifecycle/dependencies.ts';
const operations = 'src/core/operations/dependents.ts';
export const dependencies = [
  {
    name: 'dependencies: a job is released before its last parent is done',
    file: rules,
    find: "const isFree = job.state === 'waiting' && job.parents?.open === 0;",
    replace: "const isFree = job.state === 'waiting' && (job.parents?.open ?? 0) <= 1;",
    suites: memory,
  },
  {
    name: 'dependencies: a failed parent releases its children',
    file: rules,
    find: "if (rule === 'run' || (after === null",
    replace: "if (rule !== 'fail' || (after === null",
    suites: memory,
  },
  {
    name: 'dependencies: a failure reaches only the first child',
    file: operations,
    find: 'if (affectsDependents(parentChange)) pending.push(...notifyChildren(table, parentChange, now));',
    replace: 'if (affectsDependents(parentChange)) void notifyChildren(table, parentChange, now);',
    suites: memory,
  },
  {
    name: 'dependencies: a child waits for a deleted parent',
    file: 'src/core/operations/operate.ts',
    find: 'if (job.dependents > 0) notifyDependents(table, [{ before: job, after: null }], now);',
    replace: 'void now;',
    suites: memory,
  },
  {
    name: 'dependencies: a requeued parent still counts as failed',
    file: rules,
    find: 'isUnsuccessful(before.state) !== isUnsuccessful(after.state);',
    replace: 'isUnsuccessful(after.state);',
    suites: memory,
  },
  {
    name: 'dependencies: a longer cycle is not detected',
    file: operations,
    find: '      known.add(child.id);\n      pending.push(child);',
    replace: '      known.add(child.id);\n      if (pending.length < 2) pending.push(child);',
    suites: memory,
  },
  {
    name: 'dependencies: a child that should be cancelled with its parent fails',
    file: 'src/core/operations/operate.ts',
    find: '  apply(table, job, change, now);\n  handOverPosition(table, job, precedingCall(table, job), now);\n  followLeader(table, job, change, now);',
    replace: '  applyWithDependents(table, job, change, now);',
    suites: memory,
  },
  {
    name: 'sqlite: a blocked job is ready',
    file: 'src/stores/sqlite/tables/job-columns.ts',
    find: "if (job.state !== 'waiting' || isBlocked(job)) return null;",
    replace: "if (job.state !== 'waiting') return null;",
    suites: sqlite,
  },
  {
    name: 'sqlite: the count of blocked jobs is not updated',
    file: 'src/stores/sqlite/tables/queue-counters.ts',
    find: 'isBlocked(before) === isBlocked(after) &&',
    replace: '',
    suites: sqlite,
  },
  {
    name: 'redis: the fast path does not release dependents',
    file: 'src/stores/redis/lua/lib/fastpath/fastpath.lua',
    find: "kept = batch.keep(fields, KEPT .. 'progress ', ENDED)",
    replace: "kept = batch.keep(fields, KEPT .. 'progress dependents ', ENDED)",
    suites: redis,
  },
  {
    name: 'redis: a released child emits no event',
    file: 'src/stores/redis/lua/lib/lifecycle/dependencies.lua',
    find: "return false, child.place == 'w' and 'unblocked' or nil",
    replace: 'return false',
    suites: redis,
  },
  {
    name: 'redis: the wait of a job includes the time it was blocked by other jobs',
    file: 'src/stores/redis/lua/lib/lifecycle/lifecycle.lua',
    find: "if wasBlocked and job.place == 'w' then job.fields.freedAt = context.nowText end",
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: the wait of a job counts from a past run time it was moved to',
    file: 'src/stores/redis/lua/lib/lifecycle/lifecycle.lua',
    find: 'if dueAt > record.readySince(job) then job.fields.freedAt = text(dueAt) end',
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: the wait of a large job includes the time it was blocked by other jobs',
    file: 'src/stores/redis/lua/lib/limits/fitting.lua',
    find: 'context.now - record.readySince(first) >= K.PATIENCE_MS',
    replace: 'context.now - record.runAtOf(first) >= K.PATIENCE_MS',
    suites: redis,
  },
  {
    name: 'redis: a requeued parent still counts as failed',
    file: 'src/stores/redis/lua/lib/lifecycle/dependencies.lua',
    find: 'if wasUnsuccessful then dependencies.addCounts(child, 0, 0, -1) end',
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: a deleted child still counts as a dependent',
    file: 'src/stores/redis/lua/lib/lifecycle/dependencies.lua',
    find: "and edges.has('wait:' .. parentHex, hex) then dependencies.countDependents(parent, -1) end",
    replace: 'and not hex then dependencies.countDependents(parent, -1) end',
    suites: redis,
  },
];
