/**
 * Replaces a job by a new one of the same id, where a put changes what a stored job cannot change: retries and throttles.
 *
 *     keep the new job as a record ──▶ take the old one from its worker ──▶ delete it ──▶ add the new one ──▶ forget the record
 *
 * A process that dies in between leaves the record, and the next call that finds it finishes the rest. The history so far
 * is carried over in a note.
 */
import type { Job } from '../../core/job/job.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import type { Call } from './arguments.ts';
import { raise } from './arguments.ts';
import { readConfig } from './config.ts';
import { type HistoryItem, historyOf, toNote } from './qless-history.ts';

const KIND = 'qless-put';
const PAGE = 100;
const ASIDE_MS = 60_000;
/** A note has 4,096 characters; qless itself keeps the first item and the latest ones. */
const MOST_PAST = 3_500;

interface Replacement {
  readonly job: NewJob;
  /** The worker that puts it. */
  readonly by: string;
}

/** The stored form: with the insertion number of the old job, which distinguishes it from the new one. */
interface KeptReplacement extends Replacement {
  readonly seq: number;
  readonly past: readonly HistoryItem[];
}

export async function replaceJob(call: Call, old: Job, replacement: Replacement): Promise<void> {
  const rows = await call.longhaul.store.jobs.history(old.id);
  const most = Number((await readConfig(call))['max-job-history']);
  const past = shortened(historyOf(old, rows, { dialect: 'qless', most }));
  const kept: KeptReplacement = { ...replacement, seq: old.seq, past };
  await call.longhaul.store.records.put({ kind: KIND, key: old.id, value: JSON.stringify(kept) });
  await finish(call, kept);
}

/** Finishes the replacements that another process began. */
export async function finishReplacements(call: Call): Promise<void> {
  const records = await call.longhaul.store.records.list({ kind: KIND, limit: PAGE });
  for (const { value } of records) await finish(call, JSON.parse(value) as KeptReplacement);
}

async function finish(call: Call, { job, by, seq, past }: KeptReplacement): Promise<void> {
  const { jobs, records } = call.longhaul.store;
  const { id } = job;
  const [known] = await jobs.find([id]);
  if (known?.seq === seq) {
    if (known.lease !== null) {
      await jobs.change([{ id, note: toNote({ from: known.queue, by, silent: true }) }]);
      await jobs.requeue([{ id, steal: true, delayMs: ASIDE_MS }]);
    }
    await jobs.delete([id]);
  }
  const [answer] = await jobs.add([job]);
  if (answer?.ok === false) raise(`Put(): ${answer.refusal.message}`);
  if (past.length > 0) await jobs.change([{ id, note: toNote({ past }) }]);
  await records.delete(KIND, id);
}

function shortened(items: readonly HistoryItem[]): readonly HistoryItem[] {
  const [first, ...rest] = items;
  if (first === undefined) return [];
  while (JSON.stringify([first, ...rest]).length > MOST_PAST && rest.length > 0) rest.shift();
  return [first, ...rest];
}
