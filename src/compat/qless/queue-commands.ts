/** What is asked of queues: `pop` and `peek`, what is in them, pausing and forgetting them, and putting failed jobs back. */
import { randomUUID } from 'node:crypto';
import type { Job } from '../../core/job/job.ts';
import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import type { QueueCounts } from '../../core/ports/job-store.ts';
import { QUEUE_RECORD, type QueueSettings } from '../../core/settings/settings.ts';
import type { Arguments, Call, Command } from './arguments.ts';
import { queueArgument, textArgument, wholeArgument } from './arguments.ts';
import { configNumber, qlessQueues, useQueue } from './config.ts';
import { EVERY, jobsOf } from './pages.ts';
import { leaveQueue, must } from './put-command.ts';
import { isToldOf, toNote } from './qless-history.ts';
import { jobsToJson } from './qless-job.ts';
import { fireRecurring, recurringIn } from './recur-commands.ts';
import { seeWorker } from './worker-commands.ts';

export const queueCommands: Readonly<Record<string, Command>> = {
  pop: async (call, [queue, worker, count]) => jobsToJson(call, await popJobs(call, { queue, worker, count })),
  peek: async (call, [queue, count]) => jobsToJson(call, await peekJobs(call, queue, count)),
  queues: async (call, [queue]) => {
    if (queue !== undefined) return countsIn(call, queueArgument(queue, 'queues'));
    return Promise.all((await qlessQueues(call)).map((name) => countsIn(call, name)));
  },
  length: async (call, [queue]) => {
    const { waiting, running } = await counted(call, queueArgument(queue, 'length'));
    return waiting + running;
  },
  pause: async (call, queues) => setStates(call, queues, 'paused'),
  unpause: async (call, queues) => setStates(call, queues, 'up'),
  'queue.forget': async (call, queues) => {
    const names = queues.map((queue) => queueArgument(queue, 'queue.forget'));
    for (const queue of names) await call.longhaul.store.records.delete(QUEUE_RECORD, queue);
    return names.length;
  },
  unfail: async (call, [queue, group, count]) => {
    const to = await useQueue(call, queueArgument(queue, 'Unfail'));
    const span = { offset: 0, count: wholeArgument(count ?? 25, 'Unfail', 'count') };
    const jobs = await jobsOf(call, { state: 'failed', group: textArgument(group, 'Unfail', 'group') }, span);
    for (const job of jobs) await leaveQueue(call, job, to);
    must('Unfail', await call.longhaul.store.jobs.requeue(jobs.map(({ id }) => ({ id, queue: to }))));
    return jobs.length;
  },
};

export interface Pop {
  readonly queue: unknown;
  readonly worker: unknown;
  readonly count: unknown;
  readonly leaseMs?: number;
}

export async function popJobs(call: Call, pop: Pop): Promise<readonly Job[]> {
  const worker = textArgument(pop.worker, 'Pop', 'worker');
  const limit = wholeArgument(pop.count, 'Pop', 'count');
  const queue = await useQueue(call, queueArgument(pop.queue, 'Pop'));
  await seeWorker(call, worker, queue);
  await fireRecurring(call, queue);
  const { leaseMs } = pop;
  const request = {
    worker,
    queues: [queue],
    limit,
    requestId: randomUUID(),
    ...(leaseMs !== undefined && { leaseMs }),
  };
  const { jobs, nextAt } = await call.longhaul.store.jobs.claim(request);
  const graceMs = nextAt === null ? 0 : (await configNumber(call, 'grace-period')) * 1_000;
  // What could be handed over no sooner than a whole grace period from now has not run out yet.
  if (nextAt !== null && nextAt <= call.nowMs + graceMs) await warnStalled(call, queue);
  return jobs;
}

/** A worker whose lock ran out is told once, by its job's history, and may still say how it went until the grace is over. */
async function warnStalled(call: Call, queue: string): Promise<void> {
  const { jobs } = call.longhaul.store;
  for (const { id, attempt, lease } of await jobsOf(call, { queue, state: 'running', label: 'stalled' }, EVERY)) {
    if (lease === null || isToldOf(await jobs.history(id), lease.token)) continue;
    await jobs.change([{ id, attempt, note: toNote({ stalled: lease.token, worker: lease.worker }) }]);
  }
}

/** Looks and changes nothing: what recurs and is due is made by a pop. */
export async function peekJobs(call: Call, queue: unknown, count: unknown): Promise<readonly Job[]> {
  const limit = wholeArgument(count, 'Peek', 'count');
  const name = queueArgument(queue, 'Peek');
  return (await call.longhaul.store.jobs.list({ queue: name, order: 'claim', limit })).jobs;
}

async function counted({ longhaul }: Call, queue: string): Promise<QueueCounts> {
  const [counts] = await longhaul.store.jobs.count([queue]);
  if (counts === undefined) throw new Error('a store answers every queue of a count');
  return counts;
}

async function countsIn(call: Call, queue: string): Promise<Readonly<Record<string, unknown>>> {
  const settings = await call.longhaul.queue(queue).settings();
  const [counts, stalled, throttled, recurring] = await Promise.all([
    counted(call, queue),
    jobsOf(call, { queue, state: 'running', label: 'stalled' }, EVERY),
    (await mayThrottle(call, settings)) ? jobsOf(call, { queue, state: 'waiting', label: 'throttled' }, EVERY) : [],
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
    throttled: throttled.length,
    paused: settings.state === 'paused',
  };
}

/** Those that wait are only looked through where something might hold them back. */
async function mayThrottle({ longhaul }: Call, { maxRunning, keys, rate }: QueueSettings): Promise<boolean> {
  if (maxRunning !== null || keys !== null || rate !== null) return true;
  return (await longhaul.store.records.list({ kind: THROTTLE_RECORD, limit: 1 })).length > 0;
}

async function setStates(call: Call, queues: Arguments, state: 'up' | 'paused'): Promise<null> {
  const names = queues.map((queue) => queueArgument(queue, state === 'up' ? 'Unpause' : 'Pause'));
  for (const name of names) await call.longhaul.queue(await useQueue(call, name)).configure({ state });
  return null;
}
