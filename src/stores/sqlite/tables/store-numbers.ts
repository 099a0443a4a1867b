/**
 * The numbers that a store gives out, each only once, and its memory of the clock: kept in memory, and written with the
 * transaction that used them. So a token is durable exactly when the lease that carries it is.
 */
import type { ClockMemory, ClockStep } from '../../../core/lifecycle/clock.ts';
import type { IssuedNumbers } from '../../../core/ports/migration.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { execute, firstRow } from '../engine/sqlite-database.ts';

type NumbersRow = readonly [
  seq: number,
  token: number,
  version: number,
  seenAt: number,
  gapFrom: number,
  gapTo: number,
  readyUntil: number,
  stepFrom: number | null,
  stepAfterSeq: number | null,
];

export class StoreNumbers {
  readonly #read: Statement;
  readonly #write: Statement;
  #seq = 0;
  #token = 0;
  #version = 0;
  #readyUntil = 0;
  clockStep: ClockStep | null = null;

  constructor(db: Database) {
    const columns = 'seq, token, version, seen_at, gap_from, gap_to, ready_until, step_from, step_after_seq';
    this.#read = db.prepare(`SELECT ${columns} FROM meta`);
    this.#write = db.prepare(`UPDATE meta SET (${columns}) = (${columns.replaceAll(/\w+/g, '?')})`);
  }

  /** Reads the numbers from the file. Returns the memory of the clock, which other engines may have changed. */
  load(): ClockMemory {
    const row = firstRow<NumbersRow>(this.#read);
    if (row === undefined) throw new Error('the table meta has no row');
    const [seq, token, version, seenAt, from, to, readyUntil, stepFrom, afterSeq] = row;
    this.#seq = seq;
    this.#token = token;
    this.#version = version;
    this.#readyUntil = readyUntil;
    this.clockStep = stepFrom === null || afterSeq === null ? null : { from: stepFrom, afterSeq };
    return { seenAt, gap: { from, to } };
  }

  save({ seenAt, gap }: ClockMemory): void {
    const given = [this.#seq, this.#token, this.#version];
    const step = [this.clockStep?.from ?? null, this.clockStep?.afterSeq ?? null];
    execute(this.#write, ...given, seenAt, gap.from, gap.to, this.#readyUntil, ...step);
  }

  takeSeq(): number {
    this.#seq += 1;
    return this.#seq;
  }

  takeToken(): number {
    this.#token += 1;
    return this.#token;
  }

  takeVersion(): number {
    this.#version += 1;
    return this.#version;
  }

  get given(): IssuedNumbers {
    return { seq: this.#seq, token: this.#token, version: this.#version };
  }

  raise({ seq, token, version }: IssuedNumbers): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#token = Math.max(this.#token, token);
    this.#version = Math.max(this.#version, version);
  }

  /**
   * Called when jobs are marked ready at this time.
   * Invariant: no job is marked ready whose time is after `readyUntil`.
   */
  readyAt(now: number): void {
    if (now > this.#readyUntil) this.#readyUntil = now;
  }

  get readyUntil(): number {
    return this.#readyUntil;
  }

  /** Called when no job with a later time is marked ready any more. */
  lowerReadyUntil(now: number): void {
    this.#readyUntil = now;
  }
}
