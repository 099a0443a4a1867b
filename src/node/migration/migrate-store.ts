/**
 * Migrates a store to another engine. Every step can be repeated, and a kill at any point leaves at most one store
 * open:
 *
 *     source closed ──▶ target closed, emptied ──▶ rows copied, progress kept in the target ──▶ both compared, row by row
 *                                          source over, for good ──▶ target open
 *
 * Invariant: the target is opened only after the source is marked `over`, and that mark replaces only the standing that
 * this migration gave it. If the migration was cancelled in between, the cancellation wins and the target stays closed.
 */

import type { Job } from '../../core/job/job.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { MigratedJob, MigrationPart, MigrationRow, MigrationState } from '../../core/ports/migration.ts';
import { MIGRATION_PARTS } from '../../core/ports/migration.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Compared, PartDigest, RowFilter } from './compare-stores.ts';
import { compare, PAGE, rowsOf } from './compare-stores.ts';
import { copyLogs } from './copy-logs.ts';
import { runningJobs, waitForRunning, withRelatedJobs } from './left-behind.ts';
import { planMigration } from './plan-migration.ts';

export interface MigrationOptions {
  readonly from: Store;
  readonly to: Store;
  /** The stores' display names, without secrets. */
  readonly fromName: string;
  readonly toName: string;
  readonly waitMs: number;
  /** Whether running jobs are left behind; otherwise nothing is migrated. */
  readonly leave: boolean;
  readonly signal: AbortSignal;
  now(): number;
  newId(): string;
  onProgress(progress: MigrationProgress): void;
  /**
   * Copies the jobs' files. Called before a store is closed, so that most are copied while the old store still works,
   * and again when nothing changes any more, before the new store opens.
   */
  copyFiles(): Promise<void>;
}

export interface MigrationProgress {
  /** In step `wait`, the rows are the running jobs. */
  readonly step: 'wait' | 'copy' | 'compare';
  readonly part: MigrationPart;
  readonly rows: number;
  /** The total; null for parts that are small and not counted. */
  readonly of: number | null;
}

export interface MigrationResult {
  readonly kind: 'moved' | 'already' | 'rest';
  readonly move: string | null;
  readonly parts: readonly PartDigest[];
  /** Ids of jobs that stay at the source until they end. */
  readonly left: readonly string[];
}

/** Records may be written during the comparison: limits the repetitions. */
const MAX_ROUNDS = 5;

export async function migrateStore(options: MigrationOptions): Promise<MigrationResult> {
  const { from, to } = options;
  const [source, target] = [await from.migration.standing(), await to.migration.standing()];
  const isTargetEmpty = await isEmpty(to);
  const plan = planMigration({ source, target, from: options.fromName, to: options.toName, isTargetEmpty });
  if (plan.kind === 'refuse') throw new LonghaulError('refused', plan.why);
  if (plan.kind === 'done') return { kind: 'already', move: source?.move ?? null, parts: [], left: [] };
  if (source?.role !== 'source') await refuseRunningJobs(options);
  await options.copyFiles();
  if (plan.kind === 'rest') return new Migration(options, plan.move ?? '').rest(source as MigrationState);
  return new Migration(options, plan.move ?? options.newId()).all({ source, target, isFresh: plan.kind === 'begin' });
}

async function jobsIn({ jobs }: Store): Promise<number> {
  let count = 0;
  for (const { draft, waiting, running, done, failed, cancelled } of await jobs.count())
    count += draft + waiting + running + done + failed + cancelled;
  return count;
}

export async function isEmpty({ migration }: Store): Promise<boolean> {
  for (const part of MIGRATION_PARTS) if ((await migration.read(part, null, 1)).rows.length > 0) return false;
  return true;
}

/** Refuses before a store is closed. */
async function refuseRunningJobs({ from, waitMs, leave }: MigrationOptions): Promise<void> {
  if (leave || waitMs > 0) return;
  const running = await runningJobs(from);
  if (running.length > 0) throw stillRunning(running);
}

function stillRunning(running: readonly Job[]): LonghaulError {
  const names = running.slice(0, 10).map(({ id, queue }) => `${id} (${queue})`);
  const more = running.length > names.length ? ` and ${running.length - names.length} more` : '';
  const list = `${running.length} ${running.length === 1 ? 'job runs' : 'jobs run'}: ${names.join(', ')}${more}`;
  return new LonghaulError(
    'refused',
    `${list}; use --wait 10m to wait for them, or --leave to let them finish in the old store`,
  );
}

interface Standings {
  readonly source: MigrationState | null;
  readonly target: MigrationState | null;
  readonly isFresh: boolean;
}

class Migration {
  readonly #options: MigrationOptions;
  readonly #move: string;
  #left: ReadonlySet<string> = new Set();

  constructor(options: MigrationOptions, move: string) {
    this.#options = options;
    this.#move = move;
  }

  async all({ source, target, isFresh }: Standings): Promise<MigrationResult> {
    const { from, to } = this.#options;
    const closed = source?.role === 'source' ? source : await this.#stand(from, 'source', source);
    const running = await this.#wait();
    if (running.length > 0 && !this.#options.leave) throw await this.#cancel(closed, running, isFresh);
    this.#left = await withRelatedJobs(from, running);
    const filling = isFresh ? await this.#stand(to, 'target', target) : (target as MigrationState);
    if (filling.state === 'over') return this.#end(closed, filling, []);
    if (filling.done === null) await to.migration.clear(this.#move);
    await this.#copyAll(filling.done);
    const parts = await this.#compareAll();
    await this.#options.copyFiles();
    await copyLogs(from, to, ({ id, state }) => state !== 'running' && !this.#left.has(id));
    return this.#end(closed, (await to.migration.standing()) as MigrationState, parts);
  }

  /** Copies jobs that were left behind and have ended since. */
  async rest(source: MigrationState): Promise<MigrationResult> {
    const { from, to } = this.#options;
    const still = await withRelatedJobs(from, await this.#wait());
    const target = (await to.migration.standing()) as MigrationState;
    const filling: MigrationState = { ...target, state: 'moving' };
    if (target.state === 'over') await this.#swap(to, filling, target);
    const ended = source.left.filter((id) => !still.has(id));
    await this.#writeJobs(new Set(ended));
    await copyLogs(from, to, ({ id }) => ended.includes(id));
    await this.#options.copyFiles();
    await this.#swap(from, { ...source, left: source.left.filter((id) => still.has(id)) }, source);
    await this.#swap(to, { ...filling, state: 'over' }, filling);
    return { kind: 'rest', move: this.#move, parts: [], left: source.left.filter((id) => still.has(id)) };
  }

  #wait(): Promise<readonly Job[]> {
    const { from, waitMs, signal, onProgress } = this.#options;
    const onPoll = (rows: number): void => onProgress({ step: 'wait', part: 'jobs', rows, of: null });
    return waitForRunning(from, { waitMs, signal, onPoll });
  }

  async #writeJobs(ids: ReadonlySet<string>): Promise<void> {
    const rows: MigrationRow[] = [];
    for await (const row of rowsOf(this.#options.from.migration, 'jobs'))
      if (ids.has((row.value as MigratedJob).job.id)) rows.push(row);
    await this.#write('jobs', rows, []);
  }

  async #stand(store: Store, role: 'source' | 'target', before: MigrationState | null): Promise<MigrationState> {
    const { fromName, toName, now } = this.#options;
    const other = role === 'source' ? toName : fromName;
    const next: MigrationState = { move: this.#move, role, other, state: 'moving', at: now(), done: null, left: [] };
    await this.#swap(store, next, before);
    return next;
  }

  async #swap(store: Store, next: MigrationState, before: MigrationState | null): Promise<void> {
    if (await store.migration.stand(next, before)) return;
    throw new LonghaulError(
      'refused',
      'another process migrates one of these stores, or cancelled the migration, in the meantime',
    );
  }

  /** Nothing was copied yet: reopens the source. */
  async #cancel(closed: MigrationState, running: readonly Job[], isFresh: boolean): Promise<LonghaulError> {
    if (isFresh) await this.#options.from.migration.stand(null, closed);
    return stillRunning(running);
  }

  readonly #isWanted: RowFilter = (part, { value }) => {
    if (part !== 'jobs') return true;
    const { job } = value as MigratedJob;
    return job.state !== 'running' && !this.#left.has(job.id);
  };

  async #copyAll(done: MigrationState['done']): Promise<void> {
    const from = done === null ? 0 : MIGRATION_PARTS.indexOf(done.part);
    for (const [index, part] of MIGRATION_PARTS.entries())
      if (index >= from) await this.#copy(part, index === from ? (done?.after ?? null) : null);
  }

  async #copy(part: MigrationPart, from: string | null): Promise<void> {
    const { from: source, to, signal, onProgress } = this.#options;
    const of = await this.#countOf(part);
    let rows = from !== null && part === 'jobs' ? await jobsIn(to) : 0;
    for (let after = from; ; ) {
      signal.throwIfAborted();
      const page = await source.migration.read(part, after, PAGE);
      await this.#write(
        part,
        page.rows.filter((row) => this.#isWanted(part, row)),
        [],
        page.next,
      );
      rows = Math.min(rows + page.rows.length, of ?? Number.POSITIVE_INFINITY);
      onProgress({ step: 'copy', part, rows, of });
      if (page.next === null) return;
      after = page.next;
    }
  }

  /** Only jobs are numerous. */
  async #countOf(part: MigrationPart): Promise<number | null> {
    return part === 'jobs' ? jobsIn(this.#options.from) : null;
  }

  async #write(part: MigrationPart, rows: readonly MigrationRow[], gone: readonly string[], after?: string | null) {
    const { from, to } = this.#options;
    const done = after === undefined || after === null ? null : { part, after };
    const numbers = await from.migration.numbers();
    await to.migration.write({ move: this.#move, part, rows, gone, numbers, done });
  }

  /** Compares both stores and rewrites differences, until they are equal. */
  async #compareAll(): Promise<readonly PartDigest[]> {
    for (let round = 1; ; round += 1) {
      const found: Compared[] = [];
      for (const part of MIGRATION_PARTS) found.push(await this.#compare(part));
      const different = found.filter((each) => !isEqual(each));
      if (different.length === 0) return found.map(({ source }) => source);
      if (round >= MAX_ROUNDS) throw stillDifferent(different);
    }
  }

  async #compare(part: MigrationPart): Promise<Compared> {
    const { from, to, signal, onProgress } = this.#options;
    const of = await this.#countOf(part);
    const onRows = (rows: number): void => {
      onProgress({ step: 'compare', part, rows, of });
      signal.throwIfAborted();
    };
    const found = await compare(part, { from: from.migration, to: to.migration }, { isWanted: this.#isWanted, onRows });
    if (!isEqual(found)) await this.#write(part, found.missing, part === 'records' ? found.extra : []);
    return found;
  }

  async #end(source: MigrationState, target: MigrationState, parts: readonly PartDigest[]): Promise<MigrationResult> {
    const { from, to, now } = this.#options;
    const left = [...this.#left];
    await this.#swap(from, { ...source, state: 'over', at: now(), left }, source);
    await this.#swap(to, { ...target, state: 'over', at: now() }, target);
    return { kind: 'moved', move: this.#move, parts, left };
  }
}

const isEqual = ({ source, target }: Compared): boolean => source.sha256 === target.sha256;

/** Only records can be removed from a target: a closed source loses nothing else. */
function stillDifferent(different: readonly Compared[]): LonghaulError {
  const parts = different.map(({ source, missing, extra }) => {
    const keys = [...missing.map(({ key }) => key), ...extra];
    return `${keys.length} of the ${source.part} (${keys.slice(0, 3).join(', ')})`;
  });
  return new LonghaulError(
    'refused',
    `the stores differ in ${parts.join(' and ')}: a client still writes to the source: stop its nodes and repeat the command`,
  );
}
