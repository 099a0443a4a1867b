/** A job in the shape of qless's first document: lower priority first, running is `pending`, history as a list of stages. */

import type { Stage } from './qless-history.ts';
import { stagesOf } from './qless-history.ts';
import type { QlessJob } from './qless-job.ts';
import { flipped } from './qless-job.ts';

export interface DocumentJob {
  readonly id: string;
  readonly priority: number;
  /** JSON text, as it was put. */
  readonly data: string;
  /** JSON text of a list. */
  readonly tags: string;
  readonly worker: string;
  readonly expires: number;
  readonly state: string;
  readonly queue: string | null;
  readonly history: readonly Stage[];
}

export interface DocumentStats {
  readonly total: number;
  readonly mean: number;
  readonly variance: number;
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
