/**
 * Wraps a store so that it refuses to commit a draft with incomplete attachments. Every commit passes here, because the
 * store itself knows nothing of files.
 */

import { jobStoreOver } from '../../core/operations/port.ts';
import type { CallOptions, JobStore, TargetResult } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { AttachmentUploads } from './attachment-uploads.ts';

type AnyCall = (...parameters: readonly unknown[]) => Promise<never>;

export function refuseIncompleteCommits(store: Store, uploads: AttachmentUploads): Store {
  const { jobs, records, isShared } = store;
  const forwarded = jobStoreOver(
    (name, argument, options) =>
      (jobs[name] as AnyCall).call(jobs, ...(name === 'workers' ? [options] : [argument, options])),
    (listener) => jobs.subscribe(listener),
  );
  return {
    jobs: { ...forwarded, commit: (ids, options) => commitComplete(jobs, { ids, options, uploads }) },
    records,
    logs: store.logs,
    migration: store.migration,
    isShared,
    describe: () => store.describe(),
    close: () => store.close(),
  };
}

interface Commit {
  readonly ids: readonly string[];
  readonly options: CallOptions | undefined;
  readonly uploads: AttachmentUploads;
}

/** Returns the results in the order of the ids. */
async function commitComplete(jobs: JobStore, { ids, options, uploads }: Commit): Promise<readonly TargetResult[]> {
  const refused = await Promise.all(ids.map((id) => uploads.unfinished(id)));
  const answers = await jobs.commit(
    ids.filter((_, index) => refused[index] === null),
    options,
  );
  const left = [...answers];
  return refused.map((refusal) => refusal ?? (left.shift() as TargetResult));
}
