/**
 * Copies a job with its files, under an id that is derived from the request: a draft, the files, the commit. Each step
 * can be repeated, so a copy that was begun is finished and never made twice.
 */
import { LonghaulError } from '../../core/ports/errors.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Attachments } from './attachments.ts';

/** Throws `refused` with the message of the refusal. */
export async function copyJob(
  { store, attachments }: { readonly store: Store; readonly attachments: Attachments },
  from: string,
  copy: NewJob,
): Promise<void> {
  const [added] = await store.jobs.add([{ ...copy, draft: true }]);
  if (added === undefined || !added.ok) throw refusal(added);
  if (added.state !== 'draft') return;
  await attachments.copy(from, copy.id);
  const [committed] = await store.jobs.commit([copy.id]);
  if (committed === undefined || !committed.ok) throw refusal(committed);
}

function refusal(refused: Refused | undefined): LonghaulError {
  const message = refused?.refusal.message ?? 'no answer';
  return new LonghaulError('refused', message, refused === undefined ? {} : { refusal: refused.refusal });
}
