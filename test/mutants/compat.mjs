/** Seeded bugs of the compat layers: answers that the originals do not give. */
const jobs = ['test/compat/qless-jobs.test.ts'];
const documents = ['test/compat/qless-document.test.ts'];
const queues = ['test/compat/qless-queues.test.ts'];
const recorded = ['test/compat/qless-recorded.test.ts'];

export const compat = [
  {
    name: 'qless: a worker that pops again and again is seen only once',
    file: 'src/compat/qless/commands/worker-commands.ts',
    find: 'agoMs >= 0 && agoMs < SEEN_MS',
    replace: 'agoMs >= 0',
    suites: queues,
  },
  {
    name: 'qless: a worker that was deregistered is not seen at its next pop',
    file: 'src/compat/qless/commands/worker-commands.ts',
    find: '    call.session.lastSeen = null;\n',
    replace: '',
    suites: queues,
  },
  {
    name: 'qless: one pop takes back every expired lock',
    file: 'src/compat/qless/expired-locks.ts',
    find: '  const locks = expired.slice(0, most);',
    replace: '  const locks = expired.slice(0, most + 100);',
    suites: recorded,
  },
  {
    name: 'qless: a worker loses its job without the grace period',
    file: 'src/compat/qless/expired-locks.ts',
    find: 'if (graceMs > 0 && !(await isTold(call, job)))',
    replace: 'if (graceMs > 100_000 && !(await isTold(call, job)))',
    suites: jobs,
  },
  {
    name: 'qless: the previous holder completes a job of another worker',
    file: 'src/compat/qless/document-locks.ts',
    find: 'worker === undefined ? token === lease.token : worker === lease.worker',
    replace: 'worker === undefined || worker === lease.worker',
    suites: documents,
  },
  {
    name: 'qless: a late heartbeat renews an expired lock of the document',
    file: 'src/compat/qless/document-locks.ts',
    find: 'if (lease.until <= call.nowMs)',
    replace: 'if (lease.until < 0)',
    suites: documents,
  },
  {
    name: 'qless: a put is refused after the job has left its queue',
    file: 'src/compat/qless/commands/put-command.ts',
    find: '  await mustNotWaitForItself(call, known, put.dependsOn);\n',
    replace: '',
    suites: jobs,
  },
  {
    name: 'qless: a job whose replacement was cut short is lost',
    file: 'src/compat/qless/qless.ts',
    find: '  await finishReplacements(call);\n',
    replace: '',
    suites: jobs,
  },
  {
    name: 'qless: a canceled job lends its fields to the next one of its id',
    file: 'src/compat/qless/commands/put-command.ts',
    find: "  else if (known.state === 'cancelled') {",
    replace: "  else if (known.state === 'cancelled' && put.id === '') {",
    suites: recorded,
  },
  {
    name: 'qless: maintenance never runs',
    file: 'src/compat/qless/job-retention.ts',
    find: '  if (isDue) await maintainStore(call);',
    replace: '  if (isDue && upkeep.completions < 0) await maintainStore(call);',
    suites: queues,
  },
  {
    name: 'qless: recurring jobs are dated when a pop creates them',
    file: 'src/compat/qless/recurring-jobs.ts',
    find: 'await call.at(run.runAt).jobs.add(',
    replace: 'await call.at(call.nowMs).jobs.add(',
    suites: recorded,
  },
];
