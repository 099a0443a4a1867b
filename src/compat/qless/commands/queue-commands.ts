/** Commands of queues: `pop` and `peek`, counts, pausing and forgetting queues, and putting failed jobs back. */
import { randomUUID } from 'node:crypto';
import type { Job } from '../../../core/job/job.ts';
import { isBlocked } from '../../../core/job/job.ts';
import { claimOrder } from '../../../core/lifecycle/lifecycle.ts';
import { THROTTLE_RECORD } from '../../../core/limits/throttle.ts';
import type { QueueCounts } from '../../../core/ports/job-store.ts';
import { QUEUE_RECORD, type QueueSettings } from '../../../core/settings/settings.ts';
import type { Arguments, Call, Command } from '../arguments.ts';
import { queueArgument, textArgument, wholeArgument, wrong } from '../arguments.ts';
import { heartbeatMs, qlessQueues, readConfig, useQueue } from '../config.ts';
import { expiredLocks, takeBackExpired } from '../expired-locks.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';
import { jobsToJson } from '../qless-job.ts';
import { fireRecurring, recurringIn } from '../recurring-jobs.ts';
import { leaveQueue, must } from './put-command.ts';
import { endExpiredThrottles } from './throttle-commands.ts';
import { seeWorker } from './worker-commands.ts';

export const queueCommands: Readonly<Record<string, Command>> = {
  pop: async (call, [queue, worker, count]) => jobsToJson(call, await popJobs(call, { queue, worker, count })),
  peek: async (call, [queue, count]) => jobsToJson(call, await peekJobs(call, { queue, offset: 0, count })),
  queues: async (call, [queue]) =>
    queue === undefined ? allCounts(call) : countsIn(call, queueArgument(queue, 'queues')),
  length: async (call, [queue]) => {
    const { waiting, blocked, running } = await counted(call, queueArgument(queue, 'length'));
    return waiting - blocked + running;
  },
  pause: async (call, queues) => setStates(call, queues, 'paused'),
  unpause: async (call, queues) => setStates(call, queues, 'up'),
  'queue.forget': async (call, queues) => {
    const names = queues.map((queue) => queueArgument(queue, 'queue.forget'));
    for (const queue of names) await call.longhaul.store.records.delete(QUEUE_RECORD, queue);
    return names.length;
  },
  unfail: async (call, [queue, group, count]) => {
    const to = queueArgument(queue, 'Unfail');
    await useQueue(call, to);
    const most = wholeArgument(count ?? 25, 'Unfail', 'count');
    if (most === 0) wrong('Unfail(): Arg "count" must be greater than zero');
    const failed = await jobsOf(call, { state: 'failed', group: textArgument(group, 'Unfail', 'group') }, EVERY);
    const jobs = failed.toSorted((a, b) => (a.endedAt ?? 0) - (b.endedAt ?? 0)).slice(0, most);
    for (const job of jobs) await leaveQueue(call, job, { next: to, silent: true });
    must('Unfail', await call.longhaul.store.jobs.requeue(jobs.map(({ id }) => ({ id, queue: to }))));
    return jobs.length;
  },
};

export interface Pop {
  readonly queue: unknown;
  readonly worker: unknown;
  readonly count: unknown;
  /** Of the first document, which has no grace period. */
  readonly leaseMs?: number;
}

/** Reads everything in one round trip, because a pop is the most frequent call of a worker. */
export async function popJobs(call: Call, pop: Pop): Promise<readonly Job[]> {
  const queue = queueArgument(pop.queue, 'Pop');
  const worker = textArgument(pop.worker, 'Pop', 'worker');
  const limit = wholeArgument(pop.count, 'Pop', 'count');
  const [settings, config, expired, recurring] = await Promise.all([
    useQueue(call, queue),
    readConfig(call),
    expiredLocks(call, queue),
    recurringIn(call, queue),
  ]);
  if (settings.state !== 'up') return [];
  const seen = seeWorker(call, worker, queue);
  if (call.dialect === 'reqless') await endExpiredThrottles(call);
  const back = await takeBackExpired(call, expired, { most: limit, hasGrace: pop.leaseMs === undefined });
  await fireRecurring(call, recurring, limit - back);
  const leaseMs = pop.leaseMs ?? Math.max(0, heartbeatMs(config, queue));
  const request = { worker, queues: [queue], limit, requestId: randomUUID(), leaseMs };
  const [{ jobs }] = await Promise.all([call.longhaul.store.jobs.claim(request), seen]);
  return jobs;
}

/** Returns the jobs that a pop would return, of a paused queue too. Creates recurring jobs that are due, as qless does. */
export async function peekJobs(
  call: Call,
  peek: { readonly queue: unknown; readonly offset: unknown; readonly count: unknown },
): Promise<readonly Job[]> {
  const queue = queueArgument(peek.queue, 'Peek');
  const offset = wholeArgument(peek.offset, 'Peek', 'offset');
  const end = offset + wholeArgument(peek.count, 'Peek', 'count');
  const expired = (await expiredLocks(call, queue)).slice(0, end);
  if (await isKnown(call, queue)) await fireRecurring(call, await recurringIn(call, queue), end - expired.length);
  const jobs = await readyJobs(call, queue, end);
  const ready = call.dialect === 'reqless' ? await unthrottled(call, jobs) : jobs;
  return [...expired, ...ready].slice(offset, end);
}

/** Of a paused queue, the store lists no job in claim order: its jobs are ordered here. */
async function readyJobs(call: Call, queue: string, limit: number): Promise<readonly Job[]> {
  const { state } = await call.longhaul.queue(queue).settings();
  if (state === 'up')
    return (await call.longhaul.store.jobs.list({ queue, order: 'claim', limit: Math.max(1, limit) })).jobs;
  const waiting = await jobsOf(call, { queue, state: 'waiting' }, EVERY);
  const ready = waiting.filter((job) => !isBlocked(job) && job.runAt <= call.nowMs);
  return ready.toSorted(claimOrder).slice(0, limit);
}

async function unthrottled(call: Call, jobs: readonly Job[]): Promise<readonly Job[]> {
  const reasons = await call.longhaul.store.jobs.insight({ kind: 'brakes', ids: idsOf(jobs) });
  return jobs.filter((_, place) => reasons[place] === null);
}

async function isKnown(call: Call, queue: string): Promise<boolean> {
  return (await qlessQueues(call)).includes(queue);
}

export async function allCounts(call: Call): Promise<readonly Readonly<Record<string, unknown>>[]> {
  return Promise.all((await qlessQueues(call)).map((name) => countsIn(call, name)));
}

async function counted({ longhaul }: Call, queue: string): Promise<QueueCounts> {
  const [counts] = await longhaul.store.jobs.count([queue]);
  if (counts === undefined) throw new Error('a store answers every queue of a count');
  return counts;
}

export async function countsIn(call: Call, queue: string): Promise<Readonly<Record<string, unknown>>> {
  const settings = await call.longhaul.queue(queue).settings();
  const mayWait = call.dialect === 'reqless' && (await mayThrottle(call, settings));
  const [counts, stalled, throttled, recurring] = await Promise.all([
    counted(call, queue),
    expiredLocks(call, queue),
    mayWait ? jobsOf(call, { queue, state: 'waiting', label: 'throttled' }, EVERY) : [],
    recurringIn(call, queue),
  ]);
  return {
    name: queue,
    waiting: counts.waiting - counts.scheduled - counts.blocked - throttled.length,
    running: counts.running - stalled.length,
    stalled: stalled.length,
    scheduled: counts.scheduled,
    depends: counts.blocked,
    recurring: recurring.length,
    ...(call.dialect === 'reqless' && { throttled: throttled.length }),
    paused: settings.state === 'paused',
  };
}

/** Waiting jobs are read only if a limit might hold them back. */
async function mayThrottle({ longhaul }: Call, { maxRunning, keys, rate }: QueueSettings): Promise<boolean> {
  if (maxRunning !== null || keys !== null || rate !== null) return true;
  return (await longhaul.store.records.list({ kind: THROTTLE_RECORD, limit: 1 })).length > 0;
}

async function setStates(call: Call, queues: Arguments, state: 'up' | 'paused'): Promise<null> {
  const names = queues.map((queue) => queueArgument(queue, state === 'up' ? 'Unpause' : 'Pause'));
  for (const name of names) {
    await useQueue(call, name);
    await call.longhaul.queue(name).configure({ state });
  }
  return null;
}
