/**
 * The parents of a job, as its handler or script sees them: state, result and attachments. Reads only; a parent that
 * retention has deleted is missing.
 */
import type { Job, JobState } from '../../core/job/job.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Attachment } from './attachments.ts';
import { listAttachments } from './attachments.ts';

/** A job that another job waited for. */
export interface ParentJob<Result = unknown> {
  /** Its id. */
  readonly id: string;
  /** Its queue. */
  readonly queue: string;
  /** Its name. */
  readonly name: string | null;
  /** Its state. */
  readonly state: JobState;
  /** Its result; null when it has none. */
  readonly result: Result | null;
  /** Its files. */
  readonly attachments: readonly Attachment[];
}

const PAGE = 100;

/** Returns the files of a job. */
type ListFiles = (id: string) => Promise<readonly Attachment[]>;

/** Returns the parents in the order in which they were added. */
export async function parentsOf(
  store: Store,
  { id, parents }: Pick<Job, 'id' | 'parents'>,
  listFiles: ListFiles = (parent) => listAttachments(store, parent),
): Promise<ParentJob[]> {
  const found: ParentJob[] = [];
  if (parents === null) return found;
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.jobs.list({ child: id, order: 'newest', limit: PAGE, ...(after && { after }) });
    found.push(...(await Promise.all(page.jobs.map((parent) => parentJob(parent, listFiles)))));
    after = page.next;
  }
  return found.reverse();
}

async function parentJob({ id, queue, name, state, result }: Job, listFiles: ListFiles): Promise<ParentJob> {
  const attachments = await listFiles(id);
  return { id, queue, name, state, result: result === null ? null : (JSON.parse(result) as unknown), attachments };
}
