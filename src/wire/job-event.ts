/**
 * Events as they travel to pages and tools: what happened to which job (event `job`), and enough of it to change its
 * row, or that a queue's settings changed (event `queue`).
 *
 * Besides those, `ready` tells that from here on everything will come, and `reset` that something was missed: what is
 * known is to be asked for anew. Each message has an id to come back with (Last-Event-ID).
 */
import type { Failure, Job, JobState, Progress } from '../core/job/job.ts';
import type { Labelled } from '../core/job/label.ts';
import type { StoreEventType } from '../core/ports/job-store.ts';

/** What a row of a list shows. */
export interface JobRow
  extends Labelled,
    Pick<Job, 'name' | 'priority' | 'tags' | 'attempt' | 'failures' | 'createdAt' | 'runAt' | 'endedAt'> {
  readonly progress: Progress | null;
  readonly failure: Pick<Failure, 'group' | 'message'> | null;
  readonly worker: string | null;
  readonly startedAt: number | null;
}

/** One message of event `job`. Several changes of a job in one moment are one message. */
export interface JobEvent {
  /** The last of `types`, which are in their order. */
  readonly type: StoreEventType;
  readonly types: readonly StoreEventType[];
  readonly id: string;
  readonly queue: string;
  /** Null for a job that was deleted. */
  readonly state: JobState | null;
  /** Null where only the fact is known: then the job is to be asked for. */
  readonly row: JobRow | null;
}

/** One message of event `queue`: its settings changed. */
export interface QueueEvent {
  readonly type: 'queue';
  readonly queue: string;
}
