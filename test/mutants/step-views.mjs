/** Seeded bugs in what shows durable steps: a wait shown as work, an end that is wrong, a failure without its step. */
export const stepViews = [
  {
    name: 'step views: a sleep whose time has come is shown as sleeping',
    file: 'src/wire/steps/step-view.ts',
    find: "return endedAt ?? (kind === 'sleep' && until !== null && until <= now ? until : null);",
    replace: 'return endedAt;',
    suites: ['src/wire/steps/step-view.test.ts'],
  },
  {
    name: 'step views: the timeline shows a wait for an event as a wait for a worker',
    file: 'web/src/job/timeline-segments.ts',
    find: "if (event === 'suspended') wait = note;",
    replace: "if (event === 'suspended') wait = note === 'sleeping' ? note : null;",
    suites: ['web/src/job/timeline-segments.test.ts'],
  },
  {
    name: 'step views: any event ends a wait in the timeline',
    file: 'web/src/job/timeline-segments.ts',
    find: " || (event === 'notified' && wait !== `waiting for ${note}`)",
    replace: '',
    suites: ['web/src/job/timeline-segments.test.ts'],
  },
  {
    name: 'step views: the run time of an attempt has only its last part',
    file: 'src/node/attempts/attempt-view.ts',
    find: 'return end === undefined ? sum : sum + Math.max(0, end.at - at);',
    replace: 'return end === undefined ? sum : Math.max(0, end.at - at);',
    suites: ['src/node/attempts/attempt-view.test.ts'],
  },
  {
    name: 'step views: a failure does not name its step',
    file: 'src/library/steps/handler-steps.ts',
    find: 'if (!(error instanceof StepTimeout)) markStep(error, name);',
    replace: '',
    suites: ['test/library/memory.test.ts'],
  },
  {
    name: 'step views: the outer step is named, not the one that failed',
    file: 'src/core/job/failure.ts',
    find: 'error === null || FAILED_STEP in error || ',
    replace: 'error === null || ',
    and: { find: '{ value: step }', replace: '{ value: step, configurable: true }' },
    suites: ['src/core/job/failure.test.ts'],
  },
];
