/**
 * Events for the other engines on the same file: one row for each transaction that changed something while others had the
 * file open. Each engine continues from the last row it read. Few rows are kept: an engine that is late has the slow poll.
 */
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Database, Statement } from './sqlite-database.ts';
import { allRows, firstRow } from './sqlite-database.ts';

const MAX_ROWS = 1_000;
/** Old rows are deleted once in this many rows. */
const TRIM_EVERY = 100;

type Packed = readonly [type: StoreEvent['type'], id: string, queue: string, state: StoreEvent['state']];

export class EventLog {
  readonly #peer: string;
  readonly #last: Statement;
  readonly #read: Statement;
  readonly #write: Statement;
  readonly #trim: Statement;
  #lastId = 0;

  constructor(db: Database, peer: string) {
    this.#peer = peer;
    this.#last = db.prepare('SELECT max(id) FROM events');
    this.#read = db.prepare('SELECT id, peer, events FROM events WHERE id > ? ORDER BY id');
    this.#write = db.prepare('INSERT INTO events (peer, events) VALUES (?, ?)');
    // Never deletes the newest row: it keeps the row ids growing.
    this.#trim = db.prepare('DELETE FROM events WHERE id <= ?');
  }

  /** Skips to the end of the log: earlier changes are visible in the jobs themselves. */
  skip(): readonly StoreEvent[] {
    this.#lastId = firstRow<readonly [number | null]>(this.#last)?.[0] ?? 0;
    return [];
  }

  write(events: readonly StoreEvent[]): void {
    const packed = events.map(({ type, id, queue, state }): Packed => [type, id, queue, state]);
    const row = Number(this.#write.run(this.#peer, JSON.stringify(packed)).lastInsertRowid);
    if (row % TRIM_EVERY === 0) this.#trim.run(row - MAX_ROWS);
  }

  /** Returns the events of other engines since the last call. */
  read(): readonly StoreEvent[] {
    const rows = allRows<readonly [number, string, string]>(this.#read, this.#lastId);
    this.#lastId = rows.at(-1)?.[0] ?? this.#lastId;
    return rows.filter(([, peer]) => peer !== this.#peer).flatMap(([, , events]) => unpack(events));
  }
}

function unpack(events: string): readonly StoreEvent[] {
  const packed = JSON.parse(events) as readonly Packed[];
  return packed.map(([type, id, queue, state]) => ({ type, id, queue, state }));
}
