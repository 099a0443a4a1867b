/**
 * The messages of the event streams. Event `job`: a job changed, with its new row. Event `queue`: the settings of a queue
 * changed.
 *
 * `ready` means that all missed events were sent and live events follow. `reset` means that events were lost: the reader
 * must query again. Each message has an id for resuming (Last-Event-ID).
 */
import type { Failure, Job, JobState, Progress } from '../core/job/job.ts';
import type { Labelled } from '../core/job/label.ts';
import type { StoreEventType } from '../core/ports/job-store.ts';

/** The columns of a job list. */
export interface JobRow
  extends Labelled,
    Pick<Job, 'name' | 'priority' | 'tags' | 'attempt' | 'failures' | 'createdAt' | 'runAt' | 'endedAt'> {
  readonly progress: Progress | null;
  readonly failure: Pick<Failure, 'group' | 'message'> | null;
  readonly worker: string | null;
  readonly startedAt: number | null;
}

/** A message of event `job`. Changes of one job within a short time share a message. */
export interface JobEvent {
  /** The last of `types`, which are in order of time. */
  readonly type: StoreEventType;
  readonly types: readonly StoreEventType[];
  readonly id: string;
  readonly queue: string;
  /** Null for a job that was deleted. */
  readonly state: JobState | null;
  /** Null when the message carries no row: the reader then queries the job. */
  readonly row: JobRow | null;
}

/** A message of event `queue`. */
export interface QueueEvent {
  readonly type: 'queue';
  readonly queue: string;
}
