import { expect, it } from 'vitest';
import { openMemoryStore } from '../../stores/memory/open-memory-store.ts';
import { homeAt } from '../home.ts';
import { viewAttempts } from './attempt-view.ts';

const FAILURE = { group: 'exit-143', message: 'killed by SIGTERM', detail: null };

it('adds up the run time of an attempt without its suspensions', async () => {
  let now = 1_000;
  const { jobs, logs } = openMemoryStore({ now: () => now });
  const claim = async () => {
    const { jobs: claimed } = await jobs.claim({ worker: 'w', queues: ['mail'], limit: 1, requestId: String(now) });
    return claimed[0]?.lease?.token ?? 0;
  };
  const suspend = { id: 'a', kind: 'suspend', event: null, children: null } as const;
  await jobs.add([{ id: 'a', queue: 'mail', data: 'null' }]);
  const first = await claim();
  now += 200;
  await jobs.settle([{ ...suspend, token: first, until: now + 5_000 }]);
  now += 5_000;
  const second = await claim();
  now += 30;
  await jobs.settle([{ id: 'a', token: second, kind: 'complete' }]);
  const [job] = await jobs.find(['a']);
  if (job === undefined || job === null) throw new Error('the job is missing');
  const views = await viewAttempts(homeAt('/nowhere'), job, { history: await jobs.history('a'), logs });
  const times = { claimedAt: 1_000, resumedAt: 6_200, endedAt: 6_230, ranMs: 230 };
  expect(views).toMatchObject([{ attempt: 1, outcome: 'completed', ...times }]);
});

it('shows the attempt of a cancelled job as cancelled, without the kind of its settlement', async () => {
  const { jobs, logs } = openMemoryStore();
  await jobs.add([{ id: 'a', queue: 'mail', data: 'null' }]);
  const claimed = await jobs.claim({ worker: 'w', queues: ['mail'], limit: 1, requestId: '1' });
  await jobs.cancel([{ id: 'a' }]);
  const token = claimed.jobs[0]?.lease?.token ?? 0;
  await jobs.settle([{ id: 'a', token, kind: 'fail', failure: FAILURE, delayMs: 0 }]);
  const [job] = await jobs.find(['a']);
  if (job === undefined || job === null) throw new Error('the job is missing');
  const views = await viewAttempts(homeAt('/nowhere'), job, { history: await jobs.history('a'), logs });
  expect(views).toMatchObject([{ attempt: 1, outcome: 'cancelled', note: null }]);
});
