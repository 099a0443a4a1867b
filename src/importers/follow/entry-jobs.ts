/** Held entries as jobs: why one cannot be moved, and how it is added. */
import type { NewJob } from '../../core/ports/job-store.ts';
import type { ForeignJob } from '../foreign-job.ts';
import { problemOf } from '../import-jobs.ts';
import { newJob } from '../new-job.ts';
import type { Converted } from './follow-systems.ts';
import type { HeldEntry } from './held-entries.ts';

/** Returns why an entry cannot be moved, or null. */
export function problemIn(made: Converted, deleted: ReadonlySet<string>): string | null {
  if (made.kind === 'problem') return made.message;
  if (made.kind === 'job') return problemOf(made.job, { deleted, takesRunning: true });
  return deleted.has(made.schedule.queue) ? `queue ${made.schedule.queue} was deleted here, and stays deleted` : null;
}

/** Returns the job as it is added: no worker can claim a draft. */
export function asDraft(job: ForeignJob): NewJob {
  return { ...newJob(job), draft: true };
}

export const withReason = (held: HeldEntry, reason: string): HeldEntry => ({
  ...held,
  entry: { ...held.entry, reason },
});

export function heldBy(entries: ReadonlyMap<string, HeldEntry>, id: string): HeldEntry {
  const held = entries.get(id);
  if (held === undefined) throw new Error(`no held entry has the id ${id}`);
  return held;
}

const CHUNK = 500;

/** Jobs that depend on one another are taken together, however many they are; a call has a limit. */
export async function inChunks<Item, Answer>(
  items: readonly Item[],
  call: (chunk: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < items.length; at += CHUNK) answers.push(...(await call(items.slice(at, at + CHUNK))));
  return answers;
}
