/** Attaches a file of a running attempt, under its lease. */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import { AttemptAborted } from '../../worker/attempt/stop-reason.ts';
import type { FileContent } from './file-content.ts';
import type { FilePlace } from './file-place.ts';

export interface OutputFile {
  readonly job: RunningJob;
  readonly context: AttemptContext;
  readonly name: string;
  readonly content: FileContent;
}

/** A cancelled or stopped attempt may still attach until its grace ends; one that lost its lease may not. */
export async function attachOutput(files: FilePlace, { job, context, name, content }: OutputFile): Promise<Attachment> {
  const lost = new AbortController();
  const onAbort = (): void => {
    if (isLost(context.signal)) lost.abort(context.signal.reason);
  };
  context.signal.addEventListener('abort', onAbort);
  onAbort();
  try {
    // A transfer is a sign of life, as output is.
    const onBytes = (): void => context.alive();
    return await files.put({ id: job.id, name, content, lease: job.lease.token, signal: lost.signal, onBytes });
  } finally {
    context.signal.removeEventListener('abort', onAbort);
  }
}

function isLost({ reason }: AbortSignal): boolean {
  return reason instanceof AttemptAborted && reason.reason === 'lease-lost';
}
