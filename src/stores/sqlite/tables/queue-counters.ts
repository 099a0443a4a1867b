/**
 * Counts the jobs of each queue by state, and the bytes of its ended jobs. Changes are summed in memory and added to the
 * stored sums once per transaction, so that no call counts rows.
 */
import type { EndedState, Job, JobState } from '../../../core/job/job.ts';
import { isBlocked, isEnded, JOB_STATES } from '../../../core/job/job.ts';
import type { StorageSums } from '../../../core/statistics/storage.ts';
import { resultBytes, STORAGE_SUMS, storedBytes } from '../../../core/statistics/storage.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

/** The columns after the states. */
const RELAYED = JOB_STATES.length;
const BLOCKED = RELAYED + 1;
const KEPT = BLOCKED + 1;
/** As STORAGE_SUMS. */
const KEPT_COLUMNS = ['done_bytes', 'failed_bytes', 'cancelled_bytes', 'results', 'result_bytes'];
const COUNTED = [...JOB_STATES, 'relayed', 'blocked'];
const COLUMNS = [...COUNTED, ...KEPT_COLUMNS];
/** To be copied: lists of one kind keep compiled code valid (docs/decisions/0035-what-v8-compiles.md). */
const ZEROS: readonly number[] = COLUMNS.map(() => 0);
const PLACE = Object.fromEntries(JOB_STATES.map((state, place) => [state, place])) as Record<JobState, number>;

export type Counts = Readonly<Record<JobState | 'relayed' | 'blocked', number>>;

export class QueueCounters {
  readonly #names: Statement;
  readonly #read: Statement;
  readonly #add: Statement;
  readonly #changes = new Map<string, number[]>();

  constructor(db: Database) {
    this.#names = db.prepare('SELECT name FROM queues');
    this.#read = db.prepare(`SELECT ${COLUMNS.join(', ')} FROM queues WHERE name = ?`);
    this.#add = db.prepare(`
      INSERT INTO queues (name, ${COLUMNS.join(', ')}) VALUES (?, ${COLUMNS.map(() => '?').join(', ')})
      ON CONFLICT (name) DO UPDATE SET ${COLUMNS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`);
  }

  forget(): void {
    this.#changes.clear();
  }

  /** Returns a function that restores the sums of this moment. */
  snapshot(): () => void {
    const copy = [...this.#changes].map(([queue, changes]) => ({ queue, changes: [...changes] }));
    return () => {
      this.#changes.clear();
      for (const { queue, changes } of copy) this.#changes.set(queue, changes);
    };
  }

  /** Adds a queue, even without jobs. */
  addQueue(queue: string): void {
    if (!this.#changes.has(queue)) this.#changes.set(queue, ZEROS.slice());
  }

  add(job: Job): void {
    this.#count(job, 1);
  }

  remove(job: Job): void {
    this.#count(job, -1);
  }

  replace(before: Job, after: Job): void {
    const isAlike =
      isRelayed(before) === isRelayed(after) &&
      isBlocked(before) === isBlocked(after) &&
      before.result === after.result;
    if (isAlike && before.state === after.state && before.queue === after.queue) return;
    this.remove(before);
    this.add(after);
  }

  queues(): readonly string[] {
    const written = allRows<readonly [string]>(this.#names).map(([name]) => name);
    return [...new Set([...written, ...this.#changes.keys()])].sort();
  }

  of(queue: string): Counts {
    const sums = this.#sums(queue);
    return Object.fromEntries(COUNTED.map((name, place) => [name, sums[place] ?? 0])) as Counts;
  }

  #sums(queue: string): readonly number[] {
    const written = firstRow<readonly number[]>(this.#read, queue);
    const changes = this.#changes.get(queue);
    return COLUMNS.map((_name, place) => (written?.[place] ?? 0) + (changes?.[place] ?? 0));
  }

  kept(queue: string): StorageSums {
    const counts = this.#sums(queue);
    return Object.fromEntries(STORAGE_SUMS.map((name, place) => [name, counts[KEPT + place] ?? 0])) as StorageSums;
  }

  save(): void {
    for (const [queue, changes] of this.#changes) execute(this.#add, queue, ...changes);
    this.#changes.clear();
  }

  #count(job: Job, by: 1 | -1): void {
    let changes = this.#changes.get(job.queue);
    if (changes === undefined) {
      changes = ZEROS.slice();
      this.#changes.set(job.queue, changes);
    }
    changes[PLACE[job.state]] = (changes[PLACE[job.state]] ?? 0) + by;
    if (isRelayed(job)) changes[RELAYED] = (changes[RELAYED] ?? 0) + by;
    if (isBlocked(job)) changes[BLOCKED] = (changes[BLOCKED] ?? 0) + by;
    if (isEnded(job.state)) addKept(changes, job, by);
  }
}

function addKept(changes: number[], job: Job, by: 1 | -1): void {
  const add = (place: number, bytes: number): void => {
    changes[KEPT + place] = (changes[KEPT + place] ?? 0) + by * bytes;
  };
  const result = resultBytes(job);
  add(STORAGE_SUMS.indexOf(job.state as EndedState), storedBytes(job));
  if (result === null) return;
  add(STORAGE_SUMS.indexOf('results'), 1);
  add(STORAGE_SUMS.indexOf('resultBytes'), result);
}

function isRelayed({ state, forwardedTo }: Job): boolean {
  return state === 'done' && forwardedTo !== null;
}
