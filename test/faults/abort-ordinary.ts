/** Calls of the fast path for ordinary jobs that are not plain: priorities, tags, delays that are due, retries, progress. */
import { settleArguments } from '../../src/stores/redis/calls/requests.ts';
import { complete, fail, retry, type Workbench } from '../contract/workbench.ts';
import type { Scenario } from './abort-scenarios.ts';

const JOBS = [
  { id: 'plain' },
  { id: 'first', priority: -1, tags: ['red', 'blue'] },
  { id: 'last', priority: 5 },
  { id: 'due', delayMs: 500, tags: ['red'] },
  { id: 'also-due', delayMs: 600, priority: 9 },
  { id: 'later', delayMs: 60_000 },
];

/** The delay of two jobs is over, and nothing has moved them to the ready index. */
async function waiting(bench: Workbench): Promise<void> {
  await bench.setQueue('q', { retries: 3 });
  await bench.add({ id: 'known' });
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'before' });
  await bench.add(...JOBS);
  bench.pass(1_000);
}

async function running(bench: Workbench): Promise<void> {
  await waiting(bench);
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 3, requestId: 'first' });
}

const claim = { worker: 'w', queues: ['q'], limit: 4, requestId: 'second' };
const outcomes = [
  { id: 'known', token: 1, ...retry(0) },
  { id: 'first', token: 2, ...fail() },
  { id: 'plain', token: 3, ...complete },
] as Parameters<typeof settleArguments>[0];

export const ORDINARY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'add',
    which: 'ordinary jobs',
    prepare: waiting,
    call: (bench) => bench.add(...JOBS.map((job) => ({ ...job, id: `new-${job.id}` }))),
    repeatsAnswer: false,
  },
  {
    name: 'claim',
    which: 'ordinary jobs',
    prepare: waiting,
    call: (bench) => bench.jobs.claim({ ...claim, limit: 2 }),
    repeatsAnswer: true,
  },
  {
    name: 'heartbeat',
    which: 'with progress',
    prepare: running,
    call: (bench) => bench.jobs.heartbeat([{ id: 'first', token: 2, progress: { percent: 5, text: null } }]),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'failures with a retry',
    prepare: running,
    call: (bench) => bench.jobs.settle(outcomes),
    repeatsAnswer: true,
  },
  {
    name: 'settle-claim',
    which: 'a claim of what was retried',
    prepare: running,
    call: (_bench, run) => {
      const settled = settleArguments(outcomes);
      return run('settle-claim', [String(settled.length), ...settled, 'w', 'second', '4', '', 'q']);
    },
    // Its answer has the records as they are stored, and their fields have no order.
    repeatsAnswer: false,
  },
];
