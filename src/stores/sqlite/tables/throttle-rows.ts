/**
 * Slots of throttles, and the jobs that are parked because no slot is free.
 *
 * Invariant: the column `ready` decides whether a job is parked. A row here that disagrees is stale.
 */
import type { Job } from '../../../core/job/job.ts';
import { MAX_NEEDS } from '../../../core/limits/resources.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';
import type { JobRow } from './job-row.ts';
import { readJob, WAITING_COLUMNS } from './job-row.ts';

const COLUMNS = 'address, queue, is_fresh, returned_at, priority, turn, run_at, seq';
type ParkedRow = readonly (string | number)[];

/** How many parked rows one query reads. */
const STEP = 100;
/** How many rows one scan of the needs reads, stale ones included. */
const MAX_SCANNED = 1_000;

export class ThrottleRows {
  readonly #held: Statement;
  readonly #take: Statement;
  readonly #free: Statement;
  readonly #hide: Statement;
  readonly #park: Statement;
  readonly #nextQueue: Statement;
  readonly #first: Statement;
  readonly #count: Statement;
  readonly #forget: Statement;
  readonly #show: Statement;
  readonly #showQueue: Statement;
  readonly #nextNeeds: Statement;
  readonly #firstJob: Statement;
  /** By queue: where the scan of the latest claim began and ended. */
  readonly #lastScan = new Map<string, { readonly claim: number; readonly from: string; readonly to: string }>();
  /** Queues without jobs that are parked under their needs, as most are. */
  readonly #withoutNeeds = new Set<string>();

  constructor(db: Database) {
    this.#held = db.prepare('SELECT count(*) FROM slots WHERE address = ?');
    this.#take = db.prepare('INSERT OR IGNORE INTO slots (address, seq) VALUES (?, ?)');
    this.#free = db.prepare('DELETE FROM slots WHERE address = ? AND seq = ?');
    this.#hide = db.prepare('UPDATE jobs SET ready = 2 WHERE seq = ?');
    this.#park = db.prepare(`INSERT OR IGNORE INTO parked (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#nextQueue = db.prepare('SELECT min(queue) FROM parked WHERE address = ? AND queue > ?');
    this.#first = db.prepare(`SELECT ${COLUMNS} FROM parked WHERE address = ? AND queue = ?
      ORDER BY is_fresh, returned_at, priority, turn, run_at, seq LIMIT +?`);
    this.#count = db.prepare(`SELECT count(DISTINCT jobs.seq) FROM parked JOIN jobs ON jobs.seq = parked.seq
      WHERE parked.address = ? AND jobs.ready = 2 AND jobs.queue = parked.queue`);
    this.#forget = db.prepare(`DELETE FROM parked WHERE (${COLUMNS}) = (?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#show = db.prepare('UPDATE jobs SET ready = 1 WHERE seq = ? AND queue = ? AND ready = 2 RETURNING seq');
    this.#nextNeeds =
      db.prepare(`SELECT EXISTS (SELECT 1 FROM jobs WHERE jobs.seq = parked.seq AND jobs.queue = parked.queue
      AND jobs.ready = 2), ${COLUMNS} FROM parked WHERE address > ? AND address < ?
      ORDER BY address, queue, is_fresh, returned_at, priority, turn, run_at, seq LIMIT 1`);
    this.#firstJob = db.prepare(`SELECT ${WAITING_COLUMNS} FROM parked CROSS JOIN jobs ON jobs.seq = parked.seq
      WHERE parked.address = ? AND parked.queue = ? AND jobs.ready = 2 AND jobs.queue = parked.queue ORDER BY is_fresh,
      parked.returned_at, parked.priority, parked.turn, parked.run_at, parked.seq LIMIT 1`);
    this.#showQueue = db.prepare('UPDATE jobs INDEXED BY jobs_parked SET ready = 1 WHERE queue = ? AND ready = 2');
  }

  /** Forgets what is known of the queues: another engine wrote, or the transaction was rolled back. */
  forget(): void {
    this.#withoutNeeds.clear();
  }

  held(address: string): number {
    return firstRow<readonly [number]>(this.#held, address)?.[0] ?? 0;
  }

  /** Updates the slots that a job holds. */
  updateSlots(before: readonly string[], after: readonly string[], seq: number): void {
    for (const address of before) if (!after.includes(address)) execute(this.#free, address, seq);
    for (const address of after) if (!before.includes(address)) execute(this.#take, address, seq);
  }

  park(job: Job, address: string): void {
    const { seq, queue, returnedAt, priority, turn, runAt } = job;
    const order = returnedAt === null ? [1, 0, priority, turn, runAt] : [0, returnedAt, 0, 0, 0];
    execute(this.#hide, seq);
    execute(this.#park, address, queue, ...order, seq);
    this.#withoutNeeds.delete(queue);
  }

  /** Reads queue by queue, so that the cost depends on queues and not on jobs. */
  queues(address: string): readonly string[] {
    const found: string[] = [];
    for (let queue = this.#queueAfter(address, ''); queue !== null; queue = this.#queueAfter(address, queue))
      found.push(queue);
    return found;
  }

  count(address: string): number {
    return firstRow<readonly [number]>(this.#count, address)?.[0] ?? 0;
  }

  /** Each claim continues where the scan of the claim before ended, and wraps around at the end. */
  needs(queue: string, claim: number): readonly string[] {
    if (this.#withoutNeeds.has(queue)) return [];
    const [start, end] = [`n:${queue}:`, `n:${queue};`];
    const last = this.#lastScan.get(queue) ?? { claim, from: start, to: start };
    const from = last.claim === claim ? last.from : last.to;
    const found = this.#needsBetween(from, end);
    if (from === start && found.length === 0) this.#withoutNeeds.add(queue);
    const to = found[MAX_NEEDS - 1] ?? start;
    if (from === start && to === start) this.#lastScan.delete(queue);
    else this.#lastScan.set(queue, { claim, from, to });
    // The scan reached the end: it continues from the start, up to where it began.
    const more = to === start && from !== start ? this.#needsBetween(start, `${from} `) : [];
    return [...found, ...more].slice(0, MAX_NEEDS);
  }

  /**
   * Returns the needs between two addresses, one by one, so that the cost depends on the different needs and not on the
   * jobs. Deletes stale rows: no other call would reach them.
   */
  #needsBetween(after: string, before: string): string[] {
    const found: string[] = [];
    let last = after;
    for (let scanned = 0; found.length < MAX_NEEDS && scanned < MAX_SCANNED; scanned += 1) {
      const [isParked, ...row] = firstRow<readonly [number, ...ParkedRow]>(this.#nextNeeds, last, before) ?? [];
      const [address] = row;
      if (typeof address !== 'string') break;
      if (isParked === 1) {
        found.push(address);
        last = address;
      } else execute(this.#forget, ...row);
    }
    return found;
  }

  firstJob(address: string, queue: string): Job | undefined {
    const row = firstRow<JobRow>(this.#firstJob, address, queue);
    return row === undefined ? undefined : readJob(row);
  }

  unpark(address: string, queue: string, limit: number): number {
    let back = 0;
    while (back < limit) {
      const rows = allRows<ParkedRow>(this.#first, address, queue, Math.min(STEP, limit - back));
      if (rows.length === 0) return back;
      for (const row of rows) back += this.#bringBack(row);
    }
    return back;
  }

  unparkAll(queue: string): void {
    execute(this.#showQueue, queue);
  }

  #queueAfter(address: string, queue: string): string | null {
    return firstRow<readonly [string | null]>(this.#nextQueue, address, queue)?.[0] ?? null;
  }

  #bringBack(row: ParkedRow): 0 | 1 {
    execute(this.#forget, ...row);
    return firstRow(this.#show, row.at(-1), row[1]) === undefined ? 0 : 1;
  }
}
