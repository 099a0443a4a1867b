/**
 * Fetches a job's input files that are not on this node from the node that has them, before the script starts. Waits,
 * with a progress text, while that node is away. If that node was forgotten, the files are lost.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure, RunningJob } from '../../core/job/job.ts';
import type { Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';

export type MissingFiles = { readonly release: string } | { readonly failure: Failure };

const RETRY_MS = 1_000;
/** After this the job is released: another node may reach the files, and the slot is free. */
const MAX_WAIT_MS = 300_000;

/** Returns null when all files are here. */
export async function fetchFiles(
  attachments: Attachments,
  { job, files }: { job: RunningJob; files: readonly Attachment[] },
  context: AttemptContext,
): Promise<MissingFiles | null> {
  const until = performance.now() + MAX_WAIT_MS;
  for (;;) {
    const missing = await attachments.bring(job.id, files, context.signal);
    if (missing === null) return null;
    if (missing.isLost) return { failure: { group: 'attachment lost', message: missing.words, detail: null } };
    if (context.signal.aborted || performance.now() > until) return { release: missing.words };
    context.progress(null, `waiting for ${missing.words}`);
    await sleep(RETRY_MS, undefined, { signal: context.signal }).catch(() => undefined);
  }
}
