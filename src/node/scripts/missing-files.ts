/**
 * Before a script starts: the files that its job was given and that are not on this node's disk are brought from the node
 * that has them. One that is gone for a while is waited for, and that is said; one that was forgotten has taken them along.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failure, RunningJob } from '../../core/job/job.ts';
import type { Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';

export type Missing = { readonly release: string } | { readonly failure: Failure };

const AGAIN_MS = 1_000;
/** Then the job goes back: another node may have more luck, and the slot is free for others. */
const PATIENCE_MS = 300_000;

/** Null when everything is here. */
export async function bringFiles(
  attachments: Attachments,
  { job, files }: { job: RunningJob; files: readonly Attachment[] },
  context: AttemptContext,
): Promise<Missing | null> {
  const until = performance.now() + PATIENCE_MS;
  for (;;) {
    const missing = await attachments.bring(job.id, files, context.signal);
    if (missing === null) return null;
    if (missing.isLost) return { failure: { group: 'attachment lost', message: missing.words, detail: null } };
    if (context.signal.aborted || performance.now() > until) return { release: missing.words };
    context.progress(null, `waits for ${missing.words}`);
    await sleep(AGAIN_MS, undefined, { signal: context.signal }).catch(() => undefined);
  }
}
