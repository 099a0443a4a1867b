/**
 * Buckets of throttles, and the times at which the jobs parked under them are checked again: their wakes. Every claim asks
 * for the wakes of its queues, and most queues have none, so that is remembered.
 *
 * Invariant: a queue that is remembered without wakes has none in the open transaction. `forgetWakes` is called whenever
 * rows changed in another way than by `setWake`.
 */
import type { BucketState } from '../../core/limits/bucket.ts';
import { parkedBucket, readBucket } from '../../core/limits/bucket.ts';
import type { Database, Statement } from './engine/sqlite-database.ts';
import { allRows, execute, firstRow } from './engine/sqlite-database.ts';

type BucketRow = readonly [at: number, until: number, seen: number, version: number];

export class BucketRows {
  readonly #get: Statement;
  readonly #set: Statement;
  readonly #busy: Statement;
  readonly #forget: Statement;
  readonly #rebase: Statement;
  readonly #setWake: Statement;
  readonly #deleteWake: Statement;
  readonly #wakeAll: Statement;
  readonly #wakes: Statement;
  readonly #wakesOf: Statement;
  readonly #nextWake: Statement;
  readonly #anyWake: Statement;
  readonly #withoutWakes = new Set<string>();

  constructor(db: Database) {
    this.#get = db.prepare('SELECT at, until, seen, version FROM buckets WHERE address = ?');
    this.#set = db.prepare('INSERT OR REPLACE INTO buckets (address, at, until, seen, version) VALUES (?, ?, ?, ?, ?)');
    this.#busy = db.prepare('SELECT address FROM buckets WHERE max(at, until) > ? ORDER BY address LIMIT +?');
    this.#forget = db.prepare(`DELETE FROM buckets WHERE address IN
      (SELECT address FROM buckets INDEXED BY buckets_idle WHERE max(at, until) <= ? LIMIT +?)`);
    this.#rebase = db.prepare(`UPDATE buckets SET at = at - (seen - ?1), until = until - (seen - ?1), seen = ?1
      WHERE seen > ?1`);
    this.#setWake = db.prepare('INSERT OR REPLACE INTO wakes (park, queue, name, at) VALUES (?, ?, ?, ?)');
    this.#deleteWake = db.prepare('DELETE FROM wakes WHERE park = ?');
    this.#wakeAll = db.prepare('UPDATE wakes SET at = ?1 WHERE at > ?1');
    this.#wakes = db.prepare(`SELECT park FROM wakes INDEXED BY wakes_due WHERE queue = ? AND at <= ?
      ORDER BY at, park LIMIT +?`);
    this.#wakesOf = db.prepare('SELECT queue, park FROM wakes INDEXED BY wakes_of WHERE name = ?');
    this.#nextWake = db.prepare('SELECT min(at) FROM wakes INDEXED BY wakes_due WHERE queue = ? AND at > ?');
    this.#anyWake = db.prepare('SELECT EXISTS (SELECT 1 FROM wakes INDEXED BY wakes_due WHERE queue = ?)');
  }

  get(address: string): BucketState | undefined {
    const row = firstRow<BucketRow>(this.#get, address);
    if (row === undefined) return undefined;
    const [at, until, seen, version] = row;
    return { at, until, seen, version };
  }

  set(address: string, { at, until, seen, version }: BucketState): void {
    execute(this.#set, address, at, until, seen, version);
  }

  busy(now: number, limit: number): readonly string[] {
    return allRows<readonly [string]>(this.#busy, now, limit).map(([address]) => address);
  }

  forget(time: number, limit: number): void {
    execute(this.#forget, time, limit);
  }

  rebase(now: number): void {
    execute(this.#rebase, now);
    execute(this.#wakeAll, now);
  }

  setWake(queue: string, park: string, at: number | null): void {
    if (at === null) execute(this.#deleteWake, park);
    else execute(this.#setWake, park, queue, readBucket(parkedBucket(park)).name, at);
    this.#withoutWakes.delete(queue);
  }

  forgetWakes(): void {
    this.#withoutWakes.clear();
  }

  wakes(queue: string, now: number, limit: number): readonly string[] {
    if (!this.#hasWakes(queue)) return [];
    return allRows<readonly [string]>(this.#wakes, queue, now, limit).map(([park]) => park);
  }

  #hasWakes(queue: string): boolean {
    if (this.#withoutWakes.has(queue)) return false;
    if (firstRow<readonly [0 | 1]>(this.#anyWake, queue)?.[0] === 1) return true;
    this.#withoutWakes.add(queue);
    return false;
  }

  wakesOf(name: string): readonly (readonly [queue: string, park: string])[] {
    return allRows<readonly [string, string]>(this.#wakesOf, name);
  }

  nextWake(queue: string, now: number): number | null {
    if (!this.#hasWakes(queue)) return null;
    return firstRow<readonly [number | null]>(this.#nextWake, queue, now)?.[0] ?? null;
  }
}
