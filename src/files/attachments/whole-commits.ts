/**
 * The same store, which commits no draft whose attachments are not whole. Whichever way a commit comes by, it passes
 * here, since the store itself knows nothing of files.
 */

import { portOver } from '../../core/operations/port.ts';
import type { CallOptions, JobStore, TargetResult } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { AttachmentUploads } from './attachment-uploads.ts';

type AnyCall = (...words: readonly unknown[]) => Promise<never>;

export function withWholeCommits(store: Store, uploads: AttachmentUploads): Store {
  const { jobs, records, isShared } = store;
  const passOn = portOver(
    (name, argument, options) =>
      (jobs[name] as AnyCall).call(jobs, ...(name === 'workers' ? [options] : [argument, options])),
    (listener) => jobs.subscribe(listener),
  );
  return {
    jobs: { ...passOn, commit: (ids, options) => commitWhole(jobs, { ids, options, uploads }) },
    records,
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

/** The answers keep the order of the ids. */
async function commitWhole(jobs: JobStore, { ids, options, uploads }: Commit): Promise<readonly TargetResult[]> {
  const refused = await Promise.all(ids.map((id) => uploads.unfinished(id)));
  const answers = await jobs.commit(
    ids.filter((_, place) => refused[place] === null),
    options,
  );
  const left = [...answers];
  return refused.map((refusal) => refusal ?? (left.shift() as TargetResult));
}
