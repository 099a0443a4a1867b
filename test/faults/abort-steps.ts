/** Calls about durable steps: steps that are kept, events that wake a job, an attempt that is suspended. */
import type { Workbench } from '../contract/workbench.ts';
import type { Scenario } from './abort-scenarios.ts';

const EVENT = { kind: 'event', name: 'go', status: 'waiting' } as const;

async function running(bench: Workbench): Promise<void> {
  await bench.add({ id: 'a' }, { id: 'b', tags: ['red'] }, { id: 'c' });
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 2, requestId: 'first' });
  await bench.jobs.keepSteps([
    { id: 'a', token: 1, kind: 'run', name: 'cut', status: 'failed', failure: 'no disk' },
    { id: 'b', token: 2, ...EVENT },
  ]);
}

const suspend = { kind: 'suspend', until: null, event: 'go', children: null } as const;

export const STEP_SCENARIOS: readonly Scenario[] = [
  {
    name: 'keep-steps',
    prepare: running,
    call: (bench) =>
      bench.jobs.keepSteps([
        { id: 'a', token: 1, kind: 'run', name: 'cut', status: 'done', result: '1', attempts: 2 },
        { id: 'a', token: 1, kind: 'run', name: 'join', status: 'done', result: '{"n":2}' },
        { id: 'a', token: 1, kind: 'sleep', name: 'sleep', status: 'waiting', delayMs: 5 },
      ]),
    repeatsAnswer: true,
  },
  {
    name: 'notify',
    prepare: async (bench) => {
      await running(bench);
      await bench.jobs.settle([{ id: 'b', token: 2, ...suspend }]);
    },
    call: (bench) => bench.jobs.notify(['a', 'b', 'c'].map((id) => ({ id, name: 'go', data: '1' }))),
    repeatsAnswer: false,
  },
  {
    name: 'settle',
    which: 'suspended for other jobs',
    prepare: running,
    call: (bench) => bench.jobs.settle([{ id: 'a', token: 1, ...suspend, children: ['b', 'c'] }]),
    repeatsAnswer: true,
  },
];
