/**
 * Adds a job with files: a draft, the files, the commit. Each step can be repeated, so an add that was cut is finished by
 * the next add with the same id.
 *
 * Invariant: the job is committed with all of its files or never. A draft that was left behind expires.
 */
import { badInput, LonghaulError, type Problem } from '../../core/ports/errors.ts';
import type { AddResult, NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { findLookalikes, nameProblem } from '../../files/outputs/attachment-name.ts';
import { contentProblem, type FileContent } from './file-content.ts';
import type { FilePlace } from './file-place.ts';

/** The files of a new job, by name. */
export type NewFiles = Readonly<Record<string, FileContent>>;

export interface Adding {
  readonly store: Store;
  readonly files: FilePlace;
}

/** Throws `bad-input` for bad names and for paths without a file, before anything is written. */
export async function addWithFiles({ store, files }: Adding, job: NewJob, attach: NewFiles): Promise<AddResult> {
  await checkFiles(job, attach);
  const [added] = await store.jobs.add([{ ...job, draft: true }]);
  if (added === undefined) throw new Error('the store left an added job unanswered');
  if (!added.ok || added.state !== 'draft') return added;
  try {
    for (const [name, content] of Object.entries(attach))
      await files.put({ id: job.id, name, content, lease: null, signal: new AbortController().signal });
    return job.draft === true ? added : await commit({ store, files }, added);
  } catch (error) {
    if (added.outcome === 'added' && !isUnknown(error)) await discard({ store, files }, job.id);
    throw error;
  }
}

/** A taken unique key is not an error: the answer names its holder, as for a job without files. */
async function commit({ store, files }: Adding, draft: AddResult & { readonly ok: true }): Promise<AddResult> {
  const [committed] = await store.jobs.commit([draft.id]);
  if (committed === undefined) throw new Error('the store left a committed job unanswered');
  if (committed.ok) return { ...draft, state: committed.state };
  const { code, holder } = committed.refusal;
  await discard({ store, files }, draft.id);
  if (code !== 'key-taken' || holder === undefined) return committed;
  return { ...draft, outcome: 'duplicate', id: holder };
}

async function checkFiles({ onTaken }: NewJob, attach: unknown): Promise<void> {
  if (typeof attach !== 'object' || attach === null || Array.isArray(attach))
    throw badInput('job options', [{ path: 'attach', message: 'must be an object of names and contents' }]);
  const names = Object.keys(attach);
  const lookalikes = new Set(findLookalikes(names));
  const problems: Problem[] = [];
  for (const [index, [name, content]] of Object.entries(attach).entries()) {
    const twin = lookalikes.has(index) ? 'must not look like another name' : null;
    const problem = nameProblem(name) ?? twin ?? (await contentProblem(content));
    if (problem !== null) problems.push({ path: `attach[${JSON.stringify(name)}]`, message: problem });
  }
  if (onTaken !== undefined)
    problems.push({ path: 'onTaken', message: 'must be keep for a job with files: files of a job are not replaced' });
  if (problems.length > 0) throw badInput('job options', problems);
}

/** Whether the call may have taken effect: then only a repeat tells, and the draft stays for it. */
const isUnknown = (error: unknown): boolean => error instanceof LonghaulError && error.code === 'outcome-unknown';

/** Deletes a draft that cannot be completed. If this fails too, the draft expires. */
async function discard({ store, files }: Adding, id: string): Promise<void> {
  try {
    const [deleted] = await store.jobs.delete([id]);
    if (deleted?.ok === true) await files.removeAll(id);
  } catch {
    // The error of the add itself is the one that the caller needs.
  }
}
