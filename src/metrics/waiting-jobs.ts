/**
 * Waiting jobs by wait reason, and how long the oldest has waited.
 *
 * Blocked and scheduled jobs are counted by the store. The other waiting jobs of a queue have one reason together, that of
 * the next few in claim order: paused, no worker, throttled, or ready. Reading each job would cost too much.
 */
import type { Job } from '../core/job/job.ts';
import { readySince } from '../core/job/job.ts';
import { isLimited } from '../core/limits/throttle.ts';
import { hasWorker, readyJobs, workedQueues } from '../core/limits/without-worker.ts';
import type { QueueCounts, WorkerRecord } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import type { QueueSettings } from '../core/settings/settings.ts';
import { SettingsCache } from '../worker/loop/settings-cache.ts';
import { family } from './catalogue.ts';
import type { Family, Sample } from './metrics-text.ts';

/** How many of the next jobs of a queue are read. */
const HEAD = 10;
/** Queues with claimable jobs beyond this many count as ready, and without the age of their oldest job. */
const MAX_QUEUES = 200;
const PARALLEL = 16;

export const WAIT_REASONS = ['blocked', 'scheduled', 'paused', 'no-worker', 'throttled', 'ready'] as const;
export type WaitReasonName = (typeof WAIT_REASONS)[number];

interface QueueHead {
  readonly queue: string;
  readonly reason: WaitReasonName;
  readonly oldestMs: number;
}

export async function waitingFamilies(
  store: Store,
  counts: readonly QueueCounts[],
  workers: readonly WorkerRecord[],
): Promise<readonly Family[]> {
  const claimable = counts.filter((each) => readyJobs(each) > 0).slice(0, MAX_QUEUES);
  const worked = workedQueues(workers);
  const heads = new Map<string, QueueHead>();
  for (let from = 0; from < claimable.length; from += PARALLEL) {
    const part = claimable.slice(from, from + PARALLEL);
    const found = part.map((each) => headOf(store, each.queue, hasWorker(each, worked)));
    for (const head of await Promise.all(found)) heads.set(head.queue, head);
  }
  const samples = counts.flatMap((each) => samplesOf(each, heads.get(each.queue)?.reason ?? 'ready'));
  const ages = counts.map(({ queue }) => ({
    labels: { queue },
    value: (heads.get(queue)?.oldestMs ?? 0) / 1_000,
  }));
  return [family('waiting_jobs', samples), family('oldest_wait_seconds', ages)];
}

function samplesOf(counts: QueueCounts, reason: WaitReasonName): readonly Sample[] {
  const of = { blocked: counts.blocked, scheduled: counts.scheduled, [reason]: readyJobs(counts) };
  return WAIT_REASONS.map((each) => ({
    labels: { queue: counts.queue, reason: each },
    value: (of as Partial<Record<WaitReasonName, number>>)[each] ?? 0,
  }));
}

async function headOf(store: Store, queue: string, isWorked: boolean): Promise<QueueHead> {
  const [{ jobs }, settings] = await Promise.all([
    store.jobs.list({ queue, order: 'claim', limit: HEAD }),
    new SettingsCache(store).read(queue),
  ]);
  const now = Date.now();
  const oldestMs = Math.max(0, ...jobs.map((job) => now - readySince(job)));
  return { queue, oldestMs, reason: await reasonOf(store, jobs, { settings, isWorked }) };
}

async function reasonOf(
  store: Store,
  jobs: readonly Job[],
  { settings, isWorked }: { settings: QueueSettings; isWorked: boolean },
): Promise<WaitReasonName> {
  if (settings.state !== 'up') return 'paused';
  if (jobs.length > 0 && jobs.every((job) => isLimited(job, settings))) {
    const reasons = await store.jobs.insight({ kind: 'brakes', ids: jobs.map(({ id }) => id) });
    if (reasons.every((reason) => reason !== null)) return 'throttled';
  }
  return isWorked ? 'ready' : 'no-worker';
}
