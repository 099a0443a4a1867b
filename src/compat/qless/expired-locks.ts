/**
 * Locks that expired. A pop handles them first, no more than it may return.
 *
 *     expires ──pop──▶ its worker is notified, and has the grace period left ──pop──▶ back at the front, one retry less
 *
 * The first document knows no grace period: there the first pop takes the job back.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { Call } from './arguments.ts';
import { configNumber } from './config.ts';
import { notifiedAt, toNote } from './qless-history.ts';
import { exhaustedMessage } from './qless-job.ts';

const MOST_EXPIRED = 10_000;

/** Returns the running jobs of a queue whose lock expired, the longest first. */
export async function expiredLocks(call: Call, queue: string): Promise<readonly RunningJob[]> {
  const { jobs } = call.longhaul.store;
  const stalled = await jobs.insight({ kind: 'stalled', queue, limit: MOST_EXPIRED });
  const found = stalled.length === 0 ? [] : await jobs.find(stalled.map(({ id }) => id));
  const expired = found.filter((job) => job !== null).filter(isRunning);
  return expired.toSorted((a, b) => a.lease.until - b.lease.until || a.seq - b.seq);
}

/** Takes back up to `most` of these jobs, or notifies their workers. Returns the number of jobs that are back. */
export async function takeBackExpired(
  call: Call,
  expired: readonly RunningJob[],
  { most, hasGrace }: { readonly most: number; readonly hasGrace: boolean },
): Promise<number> {
  const locks = expired.slice(0, most);
  const graceMs = locks.length === 0 || !hasGrace ? 0 : (await configNumber(call, 'grace-period')) * 1_000;
  let back = 0;
  for (const job of locks) {
    if (graceMs > 0 && !(await isTold(call, job))) await tellWorker(call, job, graceMs);
    else if (await takeBack(call, job)) back += 1;
  }
  return back;
}

async function isTold(call: Call, { id, lease }: RunningJob): Promise<boolean> {
  return notifiedAt(await call.longhaul.store.jobs.history(id), lease.token) !== null;
}

/** Notes it, which makes the history and the events, and extends the lease by the grace period. */
async function tellWorker(call: Call, { id, attempt, lease }: RunningJob, graceMs: number): Promise<void> {
  const { jobs } = call.longhaul.store;
  const until = call.nowMs + graceMs;
  const note = toNote({ stalled: lease.token, worker: lease.worker, expired: lease.until, until });
  await jobs.change([{ id, attempt, note }]);
  await jobs.heartbeat([{ id, token: lease.token, leaseMs: graceMs }]);
}

/** Returns whether the job waits again. It has failed if no retry was left. */
async function takeBack(call: Call, { id, queue, lease }: RunningJob): Promise<boolean> {
  const reason = exhaustedMessage(queue);
  const [answer] = await call.longhaul.store.jobs.settle([{ kind: 'crash', id, token: lease.token, reason }]);
  return answer?.ok === true && answer.state === 'waiting';
}
