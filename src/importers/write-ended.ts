/**
 * Writes ended jobs with their times and outcomes. The store is closed for a moment, because the import assigns the
 * insertion numbers. A killed import leaves it closed, and the next one opens it again.
 */
import { created } from '../core/lifecycle/lifecycle.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { MigratedJob, MigrationRow, MigrationState } from '../core/ports/migration.ts';
import type { Store } from '../core/ports/store.ts';
import { DEFAULT_SETTINGS } from '../core/settings/settings.ts';
import type { ForeignJob } from './foreign-job.ts';
import type { ImportOptions } from './import-jobs.ts';
import { newJob } from './new-job.ts';

/** Returns whether a killed import left the store closed. Over HTTP the state is unknown and cannot be changed. */
export async function isLeftClosed({ migration }: Store): Promise<boolean> {
  const standing = await migration.standing().catch((error: unknown) => {
    if (error instanceof LonghaulError && error.code === 'refused') return null;
    throw error;
  });
  return standing?.role === 'import';
}

export async function writeEnded(
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
    const rows = ended.map((job, index) => rowOf(job, { seq: numbers.seq + index + 1, now, origin }));
    const last = { ...numbers, seq: numbers.seq + rows.length };
    await migration.write({ move: importId, part: 'jobs', rows, gone: [], numbers: last, done: null });
  } finally {
    await migration.stand(before?.role === 'import' ? null : before, standing);
  }
}

function rowOf(
  foreign: ForeignJob,
  { seq, now, origin }: { seq: number; now: number; origin: string },
): MigrationRow<'jobs'> {
  const { createdAt, endedAt, state, attempt, result, failure, resends, forwardedTo } = foreign;
  const [from, to] = [createdAt ?? endedAt ?? now, endedAt ?? now];
  const { job, row } = created(newJob({ ...foreign, dependsOn: [] }), { now: from, seq, settings: DEFAULT_SETTINGS });
  const outcome = { result, failure, resends, forwardedTo, failures: failure === null ? 0 : 1 };
  const ended = { ...job, ...outcome, state, attempt, endedAt: to };
  const last = {
    at: to,
    event: eventOf(foreign),
    state,
    attempt,
    token: null,
    by: null,
    note: `imported from ${origin}`,
  };
  const value: MigratedJob = { job: ended, history: [row, last], steps: [], parents: [], holds: null };
  return { key: String(seq), value };
}

function eventOf({ state, forwardedTo }: ForeignJob): 'completed' | 'forwarded' | 'failed' {
  if (state !== 'done') return 'failed';
  return forwardedTo === null ? 'completed' : 'forwarded';
}
