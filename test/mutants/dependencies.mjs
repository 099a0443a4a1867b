/** Bugs around jobs that wait for others: releases that come too early, too late or not at all, and failures that stop half-way. */
const memory = ['test/contract/memory.test.ts', 'test/model/memory.test.ts'];
const sqlite = ['test/contract/sqlite.test.ts', 'test/model/sqlite.test.ts'];
const redis = ['test/contract/redis.test.ts', 'test/model/redis.test.ts'];
const rules = 'src/core/lifecycle/dependencies.ts';
const operations = 'src/core/operations/dependents.ts';
const prelude = 'src/stores/redis/lua/prelude.lua';

export const dependencies = [
  {
    name: 'dependencies: released by the last parent but one',
    file: rules,
    find: "const isFree = job.state === 'waiting' && job.parents?.open === 0;",
    replace: "const isFree = job.state === 'waiting' && (job.parents?.open ?? 0) <= 1;",
    suites: memory,
  },
  {
    name: 'dependencies: a failed parent sets its children free',
    file: rules,
    find: "if (rule === 'run' || (after === null",
    replace: "if (rule !== 'fail' || (after === null",
    suites: memory,
  },
  {
    name: 'dependencies: what a failure leads to ends with the first child',
    file: operations,
    find: 'if (affectsDependents(parentChange)) pending.push(...notifyChildren(table, parentChange, now));',
    replace: 'if (affectsDependents(parentChange)) void notifyChildren(table, parentChange, now);',
    suites: memory,
  },
  {
    name: 'dependencies: a job that was deleted is waited for',
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
    name: 'dependencies: a longer circle is not seen',
    file: operations,
    find: '      known.add(child.id);\n      pending.push(child);',
    replace: '      known.add(child.id);\n      if (pending.length < 2) pending.push(child);',
    suites: memory,
  },
  {
    name: 'dependencies: cancelled along, but failed before it',
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
    name: 'sqlite: blocked jobs are counted once and never again',
    file: 'src/stores/sqlite/tables/queue-counters.ts',
    find: 'isBlocked(before) === isBlocked(after) &&',
    replace: '',
    suites: sqlite,
  },
  {
    name: 'redis: the short way forgets those who wait',
    file: 'src/stores/redis/lua/swift.lua',
    find: "local SETTLED = KNOWN .. 'parents",
    replace: "local SETTLED = CLAIMED .. 'parents",
    suites: redis,
  },
  {
    name: 'redis: a child is freed without a word',
    file: prelude,
    find: "return false, child.place == 'w' and 'unblocked' or nil",
    replace: 'return false',
    suites: redis,
  },
  {
    name: 'redis: the time for which others held a job up is counted as its wait',
    file: prelude,
    find: "if wasBlocked and job.place == 'w' then job.fields.freedAt = clock.nowText end",
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: a wait is counted from a time in the past that a job was moved to',
    file: prelude,
    find: 'if dueAt > record.readySince(job) then job.fields.freedAt = text(dueAt) end',
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: a large job counts the time for which other jobs held it up as its wait',
    file: prelude,
    find: 'clock.now - record.readySince(first) >= K.PATIENCE_MS',
    replace: 'clock.now - record.runAt(first) >= K.PATIENCE_MS',
    suites: redis,
  },
  {
    name: 'redis: a requeued parent still counts as failed',
    file: prelude,
    find: 'if wasBad then edges.count(child, 0, 0, -1) end',
    replace: '',
    suites: redis,
  },
  {
    name: 'redis: a child that is gone is still counted',
    file: prelude,
    find: "and edges.has('wait:' .. parentHex, hex) then edges.countDependents(parent, -1) end",
    replace: 'and not hex then edges.countDependents(parent, -1) end',
    suites: redis,
  },
];
