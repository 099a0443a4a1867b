/** qless's workers: those that popped or sent a heartbeat within `max-worker-age`, and their jobs. */

import { byText } from '../../../core/input/text-order.ts';
import type { WorkerRecord } from '../../../core/ports/job-store.ts';
import type { Call, Command } from '../arguments.ts';
import { textArgument } from '../arguments.ts';
import { configNumber } from '../config.ts';
import { EVERY, idsOf, jobsOf } from '../pages.ts';

export const workerCommands: Readonly<Record<string, Command>> = {
  workers: async (call, [worker]) =>
    worker === undefined ? allWorkers(call) : jobsOfWorker(call, textArgument(worker, 'Workers', 'worker')),
  'worker.deregister': async (call, workers) => {
    for (const worker of workers) {
      const id = textArgument(worker, 'worker.deregister', 'worker');
      await call.longhaul.store.jobs.endWorker({ id, kind: 'deregister' });
    }
    call.session.lastSeen = null;
    return null;
  },
};

/** The latest seen first. */
export async function allWorkers(call: Call): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const oldest = call.nowMs - (await configNumber(call, 'max-worker-age')) * 1_000;
  const known = (await call.longhaul.store.jobs.workers()).filter(({ seenAt }) => seenAt > oldest);
  const ordered = known.toSorted((a, b) => b.seenAt - a.seenAt || byText(b.id, a.id));
  return Promise.all(ordered.map((record) => summary(call, record)));
}

interface WorkerJobs {
  readonly jobs: readonly string[];
  readonly stalled: readonly string[];
}

/** The lock that expires last comes first. */
export async function jobsOfWorker(call: Call, worker: string): Promise<WorkerJobs> {
  const held = await jobsOf(call, { worker, state: 'running' }, EVERY);
  const ordered = held.toSorted((a, b) => (b.lease?.until ?? 0) - (a.lease?.until ?? 0));
  const isStalled = ({ lease }: (typeof held)[number]): boolean => (lease?.until ?? 0) <= call.nowMs;
  return { jobs: idsOf(ordered.filter((job) => !isStalled(job))), stalled: idsOf(ordered.filter(isStalled)) };
}

async function summary(call: Call, { id }: WorkerRecord): Promise<Readonly<Record<string, unknown>>> {
  const { jobs, stalled } = await jobsOfWorker(call, id);
  return { name: id, jobs: jobs.length, stalled: stalled.length };
}

/** How long a worker that pops again and again is not registered again, by the clock of the caller. */
const SEEN_MS = 1_000;

/** A pop or a heartbeat registers its worker. */
export async function seeWorker(call: Call, id: string, queue: string): Promise<void> {
  const { session, nowMs } = call;
  const last = session.lastSeen;
  const agoMs = nowMs - (last?.atMs ?? Number.NEGATIVE_INFINITY);
  if (last?.worker === id && last.queue === queue && agoMs >= 0 && agoMs < SEEN_MS) return;
  const leaseMs = Math.max(0, await configNumber(call, 'max-worker-age')) * 1_000;
  const about = { host: '', pid: 0, queues: [queue], info: '{"compat":"qless"}' };
  await call.longhaul.store.jobs.keepWorker({ id, leaseMs, kind: 'register', ...about });
  session.lastSeen = { worker: id, queue, atMs: nowMs };
}
