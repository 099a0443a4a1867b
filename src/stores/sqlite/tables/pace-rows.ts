/** The turns of a queue's keys, and the state of its rate limit. */
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { execute, firstRow } from '../engine/sqlite-database.ts';

export class PaceRows {
  readonly #pace: Statement;
  readonly #setTurn: Statement;
  readonly #setRate: Statement;
  readonly #last: Statement;
  readonly #give: Statement;
  readonly #forget: Statement;

  constructor(db: Database) {
    const set = (name: string) => `INSERT INTO paces (queue, turn, rate_at) VALUES (?1, ?2, ?3)
      ON CONFLICT (queue) DO UPDATE SET ${name} = excluded.${name}`;
    this.#pace = db.prepare('SELECT turn, rate_at FROM paces WHERE queue = ?');
    this.#setTurn = db.prepare(set('turn'));
    this.#setRate = db.prepare(set('rate_at'));
    this.#last = db.prepare('SELECT turn FROM turns WHERE queue = ? AND key = ?');
    this.#give = db.prepare('INSERT OR REPLACE INTO turns (queue, key, turn) VALUES (?, ?, ?)');
    this.#forget = db.prepare('DELETE FROM turns INDEXED BY turns_served WHERE queue = ? AND turn <= ?');
  }

  served(queue: string): number {
    return firstRow<readonly [number, number]>(this.#pace, queue)?.[0] ?? 0;
  }

  last(queue: string, key: string): number {
    return firstRow<readonly [number]>(this.#last, queue, key)?.[0] ?? 0;
  }

  serve(queue: string, turn: number): void {
    execute(this.#setTurn, queue, turn, 0);
    execute(this.#forget, queue, turn);
  }

  give(queue: string, key: string, turn: number): void {
    execute(this.#give, queue, key, turn);
  }

  forgetTurns(queue: string): void {
    execute(this.#setTurn, queue, 0, 0);
    execute(this.#forget, queue, Number.MAX_SAFE_INTEGER);
  }

  rateAt(queue: string): number {
    return firstRow<readonly [number, number]>(this.#pace, queue)?.[1] ?? 0;
  }

  setRateAt(queue: string, at: number): void {
    execute(this.#setRate, queue, 0, at);
  }
}
