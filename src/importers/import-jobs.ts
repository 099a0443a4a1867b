/**
 * Imports jobs of another system under their ids. Ended jobs are written with a note of their origin while the store is
 * closed for a moment. Waiting jobs are added like any other job. Existing ids stay unchanged, so an import can be repeated.
 */
import { checked } from '../core/input/check.ts';
import { ID_PATTERN, queueName } from '../core/job/names.ts';
import { created } from '../core/lifecycle/lifecycle.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { NewJob } from '../core/ports/job-store.ts';
import type { MigratedJob, MigrationRow, MigrationState } from '../core/ports/migration.ts';
import type { Store } from '../core/ports/store.ts';
import { DEFAULT_SETTINGS } from '../core/settings/settings.ts';
import { setSchedule } from '../schedules/manage-schedules.ts';
import { findSchedule } from '../schedules/schedule-records.ts';
import type { ForeignJob, ForeignSchedule, ForeignStore } from './foreign-job.ts';
import { importSettings } from './import-settings.ts';

export interface ImportOptions {
  readonly store: Store;
  /** A description of the source, for the notes. */
  readonly origin: string;
  /** Imports running jobs as waiting; otherwise they are listed in `unmapped`. */
  readonly takesRunning: boolean;
  readonly isDryRun: boolean;
  readonly now: number;
  readonly importId: string;
}

export interface ImportResult {
  readonly imported: Readonly<Record<'waiting' | 'done' | 'failed' | 'schedules', number>>;
  /** The number of jobs that existed already. */
  readonly known: number;
  /** The numbers of imported records other than jobs. */
  readonly besides: Readonly<Record<'tracked' | 'throttles' | 'records', number>>;
  readonly unmapped: readonly string[];
}

const BATCH = 200;

export async function importJobs(found: ForeignStore, options: ImportOptions): Promise<ImportResult> {
  const { store, takesRunning, isDryRun } = options;
  const { importable, unmapped } = splitImportable(found, takesRunning);
  const known = new Set((await findAll(store, importable)).map(({ id }) => id));
  const fresh = importable.filter(({ id }) => !known.has(id));
  const ended = fresh.filter(({ state }) => state === 'done' || state === 'failed');
  const waiting = fresh.filter(({ state }) => state === 'waiting' || state === 'running');
  const schedules = await newSchedules(store, found.recurring);
  if (!isDryRun) {
    if (ended.length > 0 || (await isLeftClosed(store))) await writeEnded(ended, options);
    unmapped.push(...(await addWaiting(waiting, store)));
    for (const each of schedules) await addSchedule(store, each);
  }
  const besides = await importSettings(found, options, unmapped);
  const count = (state: ForeignJob['state']) => ended.filter((job) => job.state === state).length;
  const imported = {
    waiting: waiting.length,
    done: count('done'),
    failed: count('failed'),
    schedules: schedules.length,
  };
  return { imported, known: known.size, besides, unmapped };
}

/** Separates the jobs that can be imported from messages about the others. */
function splitImportable(found: ForeignStore, takesRunning: boolean) {
  const [importable, unmapped]: [ForeignJob[], string[]] = [[], [...found.unmapped]];
  for (const job of found.jobs) {
    const problem = problemOf(job, takesRunning);
    if (problem === null) importable.push(job);
    else unmapped.push(`${job.id} of ${job.queue}: ${problem}`);
  }
  return { importable, unmapped };
}

function problemOf({ id, queue, state }: ForeignJob, takesRunning: boolean): string | null {
  if (!ID_PATTERN.test(id)) return 'its id contains characters that are not allowed in Longhaul';
  if (state === 'running' && !takesRunning)
    return 'it is still running there; import again when it has ended, or use --running';
  try {
    checked('queue', queue, queueName);
    return null;
  } catch (error) {
    if (error instanceof LonghaulError) return error.message;
    throw error;
  }
}

async function findAll({ jobs }: Store, wanted: readonly ForeignJob[]) {
  const found = [];
  for (let at = 0; at < wanted.length; at += BATCH)
    found.push(...(await jobs.find(wanted.slice(at, at + BATCH).map(({ id }) => id))));
  return found.filter((job) => job !== null);
}

/** Returns whether a killed import left the store closed. Over HTTP the state is unknown and cannot be changed. */
async function isLeftClosed({ migration }: Store): Promise<boolean> {
  const standing = await migration.standing().catch((error: unknown) => {
    if (error instanceof LonghaulError && error.code === 'refused') return null;
    throw error;
  });
  return standing?.role === 'import';
}

/** Closes the store while it writes, because the import assigns the insertion numbers. */
async function writeEnded(
  ended: readonly ForeignJob[],
  { store, origin, now, importId }: ImportOptions,
): Promise<void> {
  const { migration } = store;
  const before = await migration.standing();
  const standing: MigrationState = {
    move: importId,
    role: 'import',
    other: origin,
    state: 'moving',
    at: now,
    done: null,
    left: [],
  };
  const isFree = before === null || before.role === 'import' || (before.role === 'target' && before.state === 'over');
  if (!isFree || !(await migration.stand(standing, before)))
    throw new LonghaulError('refused', 'the store is being migrated: import after the migration has ended');
  try {
    const queues = [...new Set(ended.map(({ queue }) => queue))].map((name) => ({
      key: name,
      value: { name, turn: 0, rateAt: 0, turns: [], series: [] },
    }));
    const numbers = await migration.numbers();
    await migration.write({ move: importId, part: 'queues', rows: queues, gone: [], numbers, done: null });
    for (let at = 0; at < ended.length; at += BATCH) {
      const rows = ended
        .slice(at, at + BATCH)
        .map((job, index) => rowOf(job, { seq: numbers.seq + at + index + 1, now, origin }));
      const last = { ...numbers, seq: numbers.seq + at + rows.length };
      await migration.write({ move: importId, part: 'jobs', rows, gone: [], numbers: last, done: null });
    }
  } finally {
    await migration.stand(before?.role === 'import' ? null : before, standing);
  }
}

function rowOf(
  foreign: ForeignJob,
  { seq, now, origin }: { seq: number; now: number; origin: string },
): MigrationRow<'jobs'> {
  const { createdAt, endedAt, state, attempt, result, failure } = foreign;
  const [from, to] = [createdAt ?? endedAt ?? now, endedAt ?? now];
  const { job, row } = created(newJob(foreign), { now: from, seq, settings: DEFAULT_SETTINGS });
  const ended = { ...job, state, attempt, result, failure, endedAt: to, failures: failure === null ? 0 : 1 };
  const event = state === 'done' ? ('completed' as const) : ('failed' as const);
  const last = { at: to, event, state, attempt, token: null, by: null, note: `imported from ${origin}` };
  const value: MigratedJob = { job: ended, history: [row, last], parents: [], holds: null };
  return { key: String(seq), value };
}

function newJob(job: ForeignJob): NewJob {
  const { id, queue, data, name, priority, tags, retries, throttles, runAt, state } = job;
  return {
    id,
    queue,
    data,
    ...(name !== null && { name }),
    ...(priority !== 0 && { priority }),
    ...(tags.length > 0 && { tags }),
    ...((retries !== null || throttles.length > 0) && {
      policy: { ...(retries !== null && { retries }), ...(throttles.length > 0 && { throttles }) },
    }),
    ...(runAt !== null && state === 'waiting' && { runAt }),
  };
}

/** Adds parents before children. Returns messages about jobs that were refused or depend on each other in a cycle. */
async function addWaiting(waiting: readonly ForeignJob[], { jobs }: Store): Promise<readonly string[]> {
  const problems: string[] = [];
  let remaining = waiting;
  for (let before = remaining.length + 1; remaining.length > 0 && remaining.length < before; ) {
    before = remaining.length;
    const open = new Set(remaining.map(({ id }) => id));
    const next = remaining.filter(({ dependsOn }) => dependsOn.every((id) => !open.has(id)));
    for (let at = 0; at < next.length; at += BATCH) {
      const answers = await jobs.add(
        next
          .slice(at, at + BATCH)
          .map((job) => ({ ...newJob(job), ...(job.dependsOn.length > 0 && { dependsOn: job.dependsOn }) })),
      );
      for (const answer of answers) if (!answer.ok) problems.push(answer.refusal.message);
    }
    remaining = remaining.filter((job) => !next.includes(job));
  }
  return [...problems, ...remaining.map(({ id }) => `${id}: its dependencies form a cycle`)];
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

async function addSchedule(
  store: Store,
  { name, queue, everyMs, data, priority, tags, klass }: ForeignSchedule,
): Promise<void> {
  const options = { priority, tags, ...(klass !== null && { name: klass }) };
  await setSchedule(store, name, { every: everyMs, queue, data: JSON.parse(data) as unknown, options });
}
