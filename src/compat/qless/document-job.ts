/** A job in the shape of qless's first document: lower priority first, running is `pending`, history as a list of stages. */

import type { Stage } from './qless-history.ts';
import { stagesOf } from './qless-history.ts';
import type { QlessJob } from './qless-job.ts';
import { flipped } from './qless-job.ts';

/** A job in the shape of qless's first document. */
export interface DocumentJob {
  /** Its id. */
  readonly id: string;
  /** Its priority; lower runs first. */
  readonly priority: number;
  /** JSON text, as it was put. */
  readonly data: string;
  /** JSON text of a list. */
  readonly tags: string;
  /** The worker that runs it; empty for none. */
  readonly worker: string;
  /** When its lock expires, in seconds. */
  readonly expires: number;
  /** Its state; `pending` while it runs. */
  readonly state: string;
  /** Its queue; null once it is complete. */
  readonly queue: string | null;
  /** The queues it went through, with their times. */
  readonly history: readonly Stage[];
}

/** Statistics of a queue and a day. */
export interface DocumentStats {
  /** How many jobs were counted. */
  readonly total: number;
  /** Their mean time, in seconds. */
  readonly mean: number;
  /** The variance of their times. */
  readonly variance: number;
  /** How many jobs took each length of time. */
  readonly histogram: readonly number[];
}

export function documentJob(job: QlessJob): DocumentJob {
  return {
    id: job.jid,
    priority: flipped(job.priority),
    data: job.data,
    tags: JSON.stringify(job.tags),
    worker: job.worker,
    expires: job.expires,
    state: stateOf(job),
    queue: job.state === 'complete' ? null : job.queue,
    history: stagesOf(job.history),
  };
}

function stateOf({ state, worker }: QlessJob): string {
  if (worker !== '') return 'pending';
  return state === 'stalled' ? 'waiting' : state;
}
