/**
 * Imports jobs of another system under their ids. Ended jobs are written with a note of their origin while the store is
 * closed for a moment. Waiting jobs are added like any other job. Existing ids stay unchanged, so an import can be repeated.
 *
 * Invariant: a queue that was deleted here stays deleted: nothing of it is imported.
 */
import { ADD_SHAPE } from '../core/input/add-options.ts';
import { checked, object } from '../core/input/check.ts';
import { MAX_JSON_BYTES } from '../core/input/json.ts';
import { ID_PATTERN, queueName } from '../core/job/names.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import { deletedQueues } from '../core/settings/delete-queue.ts';
import { setSchedule } from '../schedules/manage-schedules.ts';
import { findSchedule } from '../schedules/schedule-records.ts';
import type { ForeignJob, ForeignSchedule, ForeignStore } from './foreign-job.ts';
import { importSettings } from './import-settings.ts';
import { newJob } from './new-job.ts';
import { isLeftClosed, writeEnded } from './write-ended.ts';

export interface ImportOptions {
  readonly store: Store;
  /** A description of the source, for the notes. */
  readonly origin: string;
  /** Imports running jobs as waiting; otherwise they are listed in `unmapped`. */
  readonly takesRunning: boolean;
  readonly isDryRun: boolean;
  readonly now: number;
  readonly importId: string;
  /** Copies the files of a job before it is written. Returns why it cannot be imported, or null. */
  prepare?(job: ForeignJob): Promise<string | null>;
  onProgress?(done: number, of: number): void;
}

export interface ImportResult {
  readonly imported: Readonly<Record<'drafts' | 'waiting' | 'done' | 'failed' | 'schedules', number>>;
  /** The number of jobs that existed already. */
  readonly known: number;
  /** The numbers of imported records other than jobs. */
  readonly besides: Readonly<Record<'tracked' | 'throttles' | 'records', number>>;
  readonly unmapped: readonly string[];
}

const BATCH = 200;

export async function importJobs(found: ForeignStore, options: ImportOptions): Promise<ImportResult> {
  const { store, isDryRun } = options;
  const deleted = await deletedQueues(store);
  const { importable, unmapped } = splitImportable(found, { deleted, takesRunning: options.takesRunning });
  const known = new Set((await findAll(store, importable)).map(({ id }) => id));
  const fresh = importable.filter(({ id }) => !known.has(id));
  const schedules = await newSchedules(
    store,
    found.recurring.filter(({ queue }) => !deleted.has(queue)),
  );
  let written: readonly ForeignJob[] = fresh;
  if (!isDryRun) {
    written = await writeAll(fresh, options, unmapped);
    for (const each of schedules) await addSchedule(store, each);
  }
  const besides = await importSettings(found, options, unmapped);
  const count = (...states: readonly ForeignJob['state'][]) =>
    written.filter(({ state }) => states.includes(state)).length;
  const imported = {
    drafts: count('draft'),
    waiting: count('waiting', 'running'),
    done: count('done'),
    failed: count('failed'),
    schedules: schedules.length,
  };
  return { imported, known: known.size, besides, unmapped };
}

/** Separates the jobs that can be imported from messages about the others. */
function splitImportable(found: ForeignStore, rules: Rules) {
  const [importable, unmapped]: [ForeignJob[], string[]] = [[], [...found.unmapped]];
  for (const job of found.jobs) {
    const problem = problemOf(job, rules);
    if (problem === null) importable.push(job);
    else unmapped.push(`${job.id} of ${job.queue}: ${problem}`);
  }
  return { importable, unmapped };
}

interface Rules {
  readonly deleted: ReadonlySet<string>;
  readonly takesRunning: boolean;
}

/** Returns why a job cannot be imported, or null. */
export function problemOf(job: ForeignJob, { deleted, takesRunning }: Rules): string | null {
  const { id, queue, state, data, name, priority, tags } = job;
  if (!ID_PATTERN.test(id)) return 'its id contains characters that are not allowed in Longhaul';
  if (deleted.has(queue)) return 'its queue was deleted here, and stays deleted';
  if (state === 'running' && !takesRunning)
    return 'it is still running there; import again when it has ended, or use --running';
  const bytes = new TextEncoder().encode(data).length;
  if (bytes > MAX_JSON_BYTES) return `its data has ${bytes} bytes, more than ${MAX_JSON_BYTES}`;
  try {
    checked('queue', queue, queueName);
    checked('job', { priority, tags, ...(name !== null && { name }) }, LABELS);
    return null;
  } catch (error) {
    if (error instanceof LonghaulError) return error.message;
    throw error;
  }
}

const LABELS = object({ name: ADD_SHAPE.name, priority: ADD_SHAPE.priority, tags: ADD_SHAPE.tags });

async function findAll({ jobs }: Store, wanted: readonly ForeignJob[]) {
  const found = [];
  for (let at = 0; at < wanted.length; at += BATCH)
    found.push(...(await jobs.find(wanted.slice(at, at + BATCH).map(({ id }) => id))));
  return found.filter((job) => job !== null);
}

/** Writes the jobs, parents before children, and adds messages about those that were refused. Returns the others. */
async function writeAll(
  fresh: readonly ForeignJob[],
  options: ImportOptions,
  unmapped: string[],
): Promise<readonly ForeignJob[]> {
  const { store, prepare, onProgress } = options;
  if (await isLeftClosed(store)) await writeEnded([], options);
  const ended = fresh.filter(({ state }) => state === 'done' || state === 'failed');
  const { ordered, cyclic } = parentsFirst(fresh.filter((job) => !ended.includes(job)));
  unmapped.push(...cyclic.map(({ id }) => `${id}: its dependencies form a cycle`));
  const written: ForeignJob[] = [];
  const all = [...inBatches(ended), ...inBatches(ordered)];
  for (const batch of all) {
    const ready: ForeignJob[] = [];
    for (const job of batch) {
      const problem = (await prepare?.(job)) ?? null;
      if (problem === null) ready.push(job);
      else unmapped.push(`${job.id} of ${job.queue}: ${problem}`);
    }
    const refused = ready[0] !== undefined && ended.includes(ready[0]) ? await writeBatch(ready) : await add(ready);
    unmapped.push(...refused.values());
    written.push(...ready.filter(({ id }) => !refused.has(id)));
    onProgress?.(written.length, fresh.length);
  }
  return written;

  async function writeBatch(batch: readonly ForeignJob[]): Promise<ReadonlyMap<string, string>> {
    await writeEnded(batch, options);
    return new Map();
  }

  async function add(batch: readonly ForeignJob[]): Promise<ReadonlyMap<string, string>> {
    const answers = await store.jobs.add(batch.map(newJob));
    return new Map(
      answers.flatMap((answer, at) =>
        answer.ok ? [] : [[batch[at]?.id ?? '', `${batch[at]?.id}: ${answer.refusal.message}`] as const],
      ),
    );
  }
}

const inBatches = (jobs: readonly ForeignJob[]): readonly (readonly ForeignJob[])[] =>
  Array.from({ length: Math.ceil(jobs.length / BATCH) }, (_, at) => jobs.slice(at * BATCH, (at + 1) * BATCH));

/** Orders jobs so that each comes after those it depends on. Jobs of a cycle have no such order. */
export function parentsFirst(jobs: readonly ForeignJob[]): {
  readonly ordered: readonly ForeignJob[];
  readonly cyclic: readonly ForeignJob[];
} {
  const ordered: ForeignJob[] = [];
  let remaining = jobs;
  for (let before = remaining.length + 1; remaining.length > 0 && remaining.length < before; ) {
    before = remaining.length;
    const open = new Set(remaining.map(({ id }) => id));
    ordered.push(...remaining.filter(({ dependsOn }) => dependsOn.every((id) => !open.has(id))));
    const done = new Set(ordered.map(({ id }) => id));
    remaining = remaining.filter(({ id }) => !done.has(id));
  }
  return { ordered, cyclic: remaining };
}

async function newSchedules(
  { records }: Store,
  found: readonly ForeignSchedule[],
): Promise<readonly ForeignSchedule[]> {
  const all = await Promise.all(
    found.map(async (each) => ((await findSchedule(records, each.name)) === null ? [each] : [])),
  );
  return all.flat();
}

export async function addSchedule(
  store: Store,
  { name, queue, everyMs, data, priority, tags, klass }: ForeignSchedule,
): Promise<void> {
  const options = { priority, tags, ...(klass !== null && { name: klass }) };
  await setSchedule(store, name, { every: everyMs, queue, data: JSON.parse(data) as unknown, options });
}
