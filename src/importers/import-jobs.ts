/**
 * Jobs of another system become ours, under their ids. What has ended is written as it was, with a note of where it came
 * from, while the store is closed for a moment; what waits is added like any other job. An id that is here already is
 * left as it is, so an import can be repeated.
 */
import { checked } from '../core/input/check.ts';
import { ID_PATTERN, queueName } from '../core/job/names.ts';
import { born } from '../core/lifecycle/lifecycle.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { NewJob } from '../core/ports/job-store.ts';
import type { MovedJob, MovedRow, Standing } from '../core/ports/migration.ts';
import type { Store } from '../core/ports/store.ts';
import { DEFAULT_SETTINGS } from '../core/settings/settings.ts';
import { setSchedule } from '../schedules/manage-schedules.ts';
import { findSchedule } from '../schedules/schedule-records.ts';
import { addBesides } from './add-besides.ts';
import type { ForeignJob, ForeignSchedule, ForeignStore } from './foreign-job.ts';

export interface ImportOptions {
  readonly store: Store;
  /** In words, for the notes. */
  readonly origin: string;
  /** Take what runs there as waiting here; else it is named and left. */
  readonly takesRunning: boolean;
  readonly isDryRun: boolean;
  readonly now: number;
  readonly importId: string;
}

export interface ImportResult {
  readonly imported: Readonly<Record<'waiting' | 'done' | 'failed' | 'schedules', number>>;
  /** Here already, by id. */
  readonly known: number;
  /** What came besides jobs, and was not here. */
  readonly besides: Readonly<Record<'tracked' | 'throttles' | 'records', number>>;
  readonly unmapped: readonly string[];
}

const BATCH = 200;

export async function importJobs(found: ForeignStore, options: ImportOptions): Promise<ImportResult> {
  const { store, takesRunning, isDryRun } = options;
  const [fitting, unmapped] = sorted(found, takesRunning);
  const known = new Set((await findAll(store, fitting)).map(({ id }) => id));
  const fresh = fitting.filter(({ id }) => !known.has(id));
  const ended = fresh.filter(({ state }) => state === 'done' || state === 'failed');
  const waiting = fresh.filter(({ state }) => state === 'waiting' || state === 'running');
  const schedules = await newSchedules(store, found.recurring);
  if (!isDryRun) {
    if (ended.length > 0 || (await isLeftClosed(store))) await writeEnded(ended, options);
    unmapped.push(...(await addWaiting(waiting, store)));
    for (const each of schedules) await addSchedule(store, each);
  }
  const besides = await addBesides(found, options, unmapped);
  const count = (state: ForeignJob['state']) => ended.filter((job) => job.state === state).length;
  const imported = {
    waiting: waiting.length,
    done: count('done'),
    failed: count('failed'),
    schedules: schedules.length,
  };
  return { imported, known: known.size, besides, unmapped };
}

/** What ours can hold, and why not the others. */
function sorted({ jobs, unmapped }: ForeignStore, takesRunning: boolean): [readonly ForeignJob[], string[]] {
  const [fitting, others]: [ForeignJob[], string[]] = [[], [...unmapped]];
  for (const job of jobs) {
    const why = whyNot(job, takesRunning);
    if (why === null) fitting.push(job);
    else others.push(`${job.id} of ${job.queue}: ${why}`);
  }
  return [fitting, others];
}

function whyNot({ id, queue, state }: ForeignJob, takesRunning: boolean): string | null {
  if (!ID_PATTERN.test(id)) return 'its id has characters that ids here may not have';
  if (state === 'running' && !takesRunning) return 'it runs there; import again when it has ended, or say --running';
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

/** By an import that was killed, perhaps when it had written all that had ended. Over HTTP nobody can ask, or write it. */
async function isLeftClosed({ migration }: Store): Promise<boolean> {
  const standing = await migration.standing().catch((error: unknown) => {
    if (error instanceof LonghaulError && error.code === 'refused') return null;
    throw error;
  });
  return standing?.role === 'import';
}

/** The store is closed meanwhile: insertion numbers are given here. */
async function writeEnded(
  ended: readonly ForeignJob[],
  { store, origin, now, importId }: ImportOptions,
): Promise<void> {
  const { migration } = store;
  const before = await migration.standing();
  const standing: Standing = {
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
    throw new LonghaulError('refused', 'the store moves house; nothing can be imported meanwhile');
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
        .map((job, place) => rowOf(job, { seq: numbers.seq + at + place + 1, now, origin }));
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
): MovedRow<'jobs'> {
  const { createdAt, endedAt, state, attempt, result, failure } = foreign;
  const [from, to] = [createdAt ?? endedAt ?? now, endedAt ?? now];
  const { job, row } = born(newJob(foreign), { now: from, seq, settings: DEFAULT_SETTINGS });
  const ended = { ...job, state, attempt, result, failure, endedAt: to, failures: failure === null ? 0 : 1 };
  const event = state === 'done' ? ('completed' as const) : ('failed' as const);
  const last = { at: to, event, state, attempt, token: null, by: null, note: `imported from ${origin}` };
  const value: MovedJob = { job: ended, history: [row, last], parents: [], holds: null };
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

/** Parents before children. One that waits for a job that is nowhere is named and left. */
async function addWaiting(waiting: readonly ForeignJob[], { jobs }: Store): Promise<readonly string[]> {
  const problems: string[] = [];
  let left = waiting;
  for (let rest = left.length + 1; left.length > 0 && left.length < rest; ) {
    rest = left.length;
    const open = new Set(left.map(({ id }) => id));
    const next = left.filter(({ dependsOn }) => dependsOn.every((id) => !open.has(id)));
    for (let at = 0; at < next.length; at += BATCH) {
      const answers = await jobs.add(
        next
          .slice(at, at + BATCH)
          .map((job) => ({ ...newJob(job), ...(job.dependsOn.length > 0 && { dependsOn: job.dependsOn }) })),
      );
      for (const answer of answers) if (!answer.ok) problems.push(answer.refusal.message);
    }
    left = left.filter((job) => !next.includes(job));
  }
  return [...problems, ...left.map(({ id }) => `${id}: it waits for jobs that wait for it`)];
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
