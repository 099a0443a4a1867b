/** Queues as RQ shows them: status words, counts by RQ's states, and the text for monitors. */
import type { QueueCounts } from '../../core/ports/job-store.ts';
import type { QueueState } from '../../core/settings/settings.ts';
import type { RqState } from '../../node/queues/rq-view.ts';
import type { QueueView } from '../../wire/views.ts';
import type { RqCompat } from './rq-routes.ts';

const STATUS: Readonly<Record<QueueState, string>> = { up: 'UP', paused: 'PAUSE', down: 'DOWN', deleted: 'DOWN' };

/** Returns the fields that RQ's queue manager and each of its queues report of themselves. */
export function managerFields(rq: RqCompat) {
  const now = Date.now();
  return {
    status: 'OPERATIONAL',
    ping: 'pong',
    pid: process.pid,
    uptime: Math.floor((now - rq.startedAt) / 1_000),
    time: Math.floor(now / 1_000),
  };
}

/** Returns RQ's word for the status: SCRIPTERROR for a queue that is up and whose script cannot be run. */
export function statusWord({ settings: { state }, problem }: QueueView): string {
  return state === 'up' && problem !== null ? 'SCRIPTERROR' : STATUS[state];
}

/** Returns the number of messages in each of RQ's states. */
export function countsOf({
  draft,
  waiting,
  running,
  done,
  failed,
  cancelled,
  relayed,
}: QueueCounts): Record<RqState, number> {
  return { prep: draft, que: waiting, run: running, err: failed + cancelled, done: done - relayed, relayed };
}

/** Returns a queue with its counts, as `q.json` lists it. */
export function summaryOf(rq: RqCompat, queue: QueueView) {
  const { ping, pid, uptime } = managerFields(rq);
  return { name: queue.name, status: statusWord(queue), ping, pid, uptime, counts: countsOf(queue.counts) };
}

/** Returns the lines of `q/<queue>.txt`. */
export function textOf(rq: RqCompat, queue: QueueView): string {
  const status = `status: ${statusWord(queue)}\n`;
  if (queue.settings.state === 'down') return status;
  const { prep, que, run, done, err, relayed } = countsOf(queue.counts);
  return `${status}uptime: ${managerFields(rq).uptime}\n\nprep: ${prep}\nque: ${que}\nrun: ${run}\n\ndone: ${done}\nerr: ${err}\nrelayed: ${relayed}\n`;
}
