/** Calls of the fast path for ordinary jobs that are not plain: priorities, tags, delays that are due, retries, progress. */
import { THROTTLE_RECORD } from '../../src/core/limits/throttle.ts';
import type { Settlement } from '../../src/core/ports/job-store.ts';
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

const unique = (until: 'started' | 'ended' | 'period') =>
  ({ key: until, scope: 'queue', until, periodMs: 60_000 }) as const;
const LIMITED_JOBS = [
  { id: 'throttled', policy: { throttles: ['t', 'u'] } },
  { id: 'started', unique: unique('started'), policy: { throttles: ['t'] } },
  { id: 'ended', unique: unique('ended'), priority: 3 },
  { id: 'period', unique: unique('period') },
  { id: 'needs', policy: { needs: 'cpu=2' } },
];

/** Jobs with limits that the fast path keeps: there is room for all of them. */
async function limited(bench: Workbench): Promise<void> {
  for (const key of ['t', 'u']) await bench.records.put({ kind: THROTTLE_RECORD, key, value: '{"max":9}' });
  await bench.add({ id: 'known' });
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'before' });
  await bench.add(...LIMITED_JOBS);
}

/** In the order of their claim, and so of their tokens. */
const CLAIMED = ['throttled', 'started', 'period', 'needs', 'ended'];
const claimAll = { worker: 'w', queues: ['q'], limit: 20, requestId: 'all', offers: { whole: 'cpu=4', free: 'cpu=4' } };

/** Plain jobs, and a worker that the store knows. */
async function plain(bench: Workbench): Promise<void> {
  await bench.add({ id: 'known' });
  await bench.jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'before' });
  await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c' });
}

const claim = { worker: 'w', queues: ['q'], limit: 4, requestId: 'second' };
const outcomes = [
  { id: 'known', token: 1, ...retry(0) },
  { id: 'first', token: 2, ...fail() },
  { id: 'plain', token: 3, ...complete },
] as Settlement[];

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
    name: 'claim',
    which: 'plain jobs',
    prepare: plain,
    call: (bench) => bench.jobs.claim({ ...claim, limit: 2 }),
    repeatsAnswer: true,
    abortsBeforeEveryWrite: true,
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
  {
    name: 'add',
    which: 'unique keys',
    prepare: waiting,
    call: (bench) => bench.add(...LIMITED_JOBS),
    repeatsAnswer: false,
  },
  {
    name: 'claim',
    which: 'jobs with limits',
    prepare: limited,
    call: (bench) => bench.jobs.claim(claimAll),
    repeatsAnswer: true,
  },
  {
    name: 'settle',
    which: 'jobs with limits',
    prepare: async (bench) => {
      await limited(bench);
      await bench.jobs.claim(claimAll);
    },
    call: (bench) => bench.jobs.settle(CLAIMED.map((id, at) => ({ id, token: 2 + at, ...complete }) as Settlement)),
    repeatsAnswer: true,
  },
];
