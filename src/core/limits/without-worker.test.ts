import { expect, it } from 'vitest';
import type { QueueCounts, WorkerRecord } from '../ports/job-store.ts';
import { isWithoutWorker, workedQueues } from './without-worker.ts';

const counts = (given: Partial<QueueCounts>): QueueCounts =>
  ({ queue: 'films', waiting: 0, blocked: 0, scheduled: 0, running: 0, ...given }) as QueueCounts;
const worker = (queue: string, isLost = false): WorkerRecord =>
  ({ queues: [queue], isLost }) as unknown as WorkerRecord;
const up = { state: 'up' } as const;

it.each([
  ['waiting jobs and no worker', counts({ waiting: 2 }), up, [], true],
  ['waiting jobs and a worker of another queue', counts({ waiting: 2 }), up, [worker('mail')], true],
  ['waiting jobs and a lost worker', counts({ waiting: 2 }), up, [worker('films', true)], true],
  ['waiting jobs and a worker', counts({ waiting: 2 }), up, [worker('films')], false],
  ['waiting jobs beside a running one', counts({ waiting: 2, running: 1 }), up, [], false],
  ['scheduled and blocked jobs only', counts({ waiting: 2, scheduled: 1, blocked: 1 }), up, [], false],
  ['no jobs', counts({}), up, [], false],
  ['waiting jobs while it is paused', counts({ waiting: 2 }), { state: 'paused' } as const, [], false],
])('a queue with %s', (_what, each, settings, workers, isWithout) => {
  expect(isWithoutWorker(each, settings, workedQueues(workers))).toBe(isWithout);
});
