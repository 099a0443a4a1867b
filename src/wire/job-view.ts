/** A job as the API shows it: the record with its JSON parsed, its label and the reason for the label. */
import type { Job } from '../core/job/job.ts';
import type { Labelled } from '../core/job/label.ts';
import { labelOf } from '../core/job/label.ts';
import type { QueueSettings } from '../core/settings/settings.ts';

export interface JobView<Data = unknown, Result = unknown>
  extends Omit<Job, 'data' | 'result' | 'checkpoint'>,
    Labelled {
  readonly data: Data;
  readonly result: Result | null;
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
