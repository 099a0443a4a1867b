/** A job as the API shows it: the record with its JSON parsed, its label and the reason for the label. */
import type { Job } from '../core/job/job.ts';
import type { Labelled } from '../core/job/label.ts';
import { labelOf } from '../core/job/label.ts';
import type { QueueSettings } from '../core/settings/settings.ts';

/** A job as the API shows it: the record with parsed data, its label and the reason for it. */
export interface JobView<Data = unknown, Result = unknown>
  extends Omit<Job, 'data' | 'result' | 'checkpoint'>,
    Labelled {
  /** What the producer gave. */
  readonly data: Data;
  /** What the handler returned; null until the job is done. */
  readonly result: Result | null;
  /** What the handler last kept for the next attempt. */
  readonly checkpoint: unknown;
}

export function viewOf<Data, Result>(job: Job, settings: QueueSettings, now: number): JobView<Data, Result> {
  return {
    ...job,
    ...labelOf(job, settings, now),
    data: JSON.parse(job.data) as Data,
    result: job.result === null ? null : (JSON.parse(job.result) as Result),
    checkpoint: job.checkpoint === null ? undefined : JSON.parse(job.checkpoint),
  };
}
