/**
 * The log of statistics: measurements are aggregated in memory and appended once per transaction, one row per group of
 * alike jobs. So a transaction reads no cell and writes one row, in most cases.
 *
 * Invariant: the log is emptied as a whole, so that the largest id is the number of pending entries.
 */
import type { Aggregate } from '../../../core/statistics/aggregate.ts';
import { aggregateText, newAggregate, readAggregate } from '../../../core/statistics/aggregate.ts';
import { SPANS } from '../../../core/statistics/series.ts';
import type { Measurement } from '../../../core/statistics/statistics.ts';
import { MAX_LOG_ENTRIES, measure } from '../../../core/statistics/statistics.ts';
import type { Database, Statement } from '../engine/sqlite-database.ts';
import { allRows, execute, firstRow } from '../engine/sqlite-database.ts';

/** The aggregate of one queue, minute, worker, tags and failure group. */
export interface LogEntry {
  readonly queue: string;
  /** Since the epoch. */
  readonly minute: number;
  readonly worker: string;
  readonly tags: readonly string[];
  readonly group: string | null;
  readonly figures: Aggregate;
}

type EntryValues = readonly [
  queue: string,
  minute: number,
  worker: string,
  tags: readonly string[],
  group: string | null,
  figures: string,
];

export class StatisticsLog {
  readonly #append: Statement;
  readonly #count: Statement;
  readonly #all: Statement;
  readonly #clear: Statement;
  /** Not appended yet. */
  #entries = new Map<string, LogEntry>();
  /** The entry of the last measurement, which is usually that of the next one too. */
  #latest: LogEntry | undefined;
  /** How many entries are pending; undefined if it must be read. */
  #size: number | undefined;

  constructor(db: Database) {
    this.#append = db.prepare('INSERT INTO statistics_log (entry) VALUES (?)');
    this.#count = db.prepare('SELECT max(id) FROM statistics_log');
    this.#all = db.prepare('SELECT entry FROM statistics_log ORDER BY id');
    this.#clear = db.prepare('DELETE FROM statistics_log');
  }

  measure(measurement: Measurement): void {
    const minute = Math.floor(measurement.at / SPANS.minute.ms);
    if (this.#latest === undefined || !isOf(this.#latest, measurement, minute))
      this.#latest = this.#entry(measurement, minute);
    measure(this.#latest.figures, measurement);
  }

  /** Appends the entries of the transaction. Returns whether there are so many now that they must be aggregated. */
  save(): boolean {
    if (this.#entries.size === 0) return false;
    this.#size ??= firstRow<readonly [number | null]>(this.#count)?.[0] ?? 0;
    for (const entry of this.#entries.values()) execute(this.#append, entryText(entry));
    this.#size += this.#entries.size;
    this.#drop();
    return this.#size > MAX_LOG_ENTRIES;
  }

  /** Whether the log is half as long as it may be, as far as is known. */
  get isLong(): boolean {
    return (this.#size ?? 0) > MAX_LOG_ENTRIES / 2;
  }

  /** Drops the entries of the transaction, and what is known of the file: another engine wrote, or it was rolled back. */
  forget(): void {
    this.#size = undefined;
    this.#drop();
  }

  #drop(): void {
    if (this.#entries.size > 0) this.#entries = new Map();
    this.#latest = undefined;
  }

  /** Returns a function that restores the entries of this moment. */
  snapshot(): () => void {
    const copy = [...this.#entries].map(([key, entry]): [string, LogEntry] => [key, copyOf(entry)]);
    return () => {
      this.forget();
      this.#entries = new Map(copy);
    };
  }

  /** Returns the pending entries, oldest first: those that were appended and not added to the cells yet. */
  pending(): readonly LogEntry[] {
    return allRows<readonly [string]>(this.#all).map(([text]) => readEntry(text));
  }

  /** Removes and returns the pending entries. The caller adds them to the cells in the same transaction. */
  take(): readonly LogEntry[] {
    const entries = this.pending();
    if (entries.length > 0) execute(this.#clear);
    this.#size = 0;
    return entries;
  }

  #entry({ queue, worker, tags, group, at }: Measurement, minute: number): LogEntry {
    const key = JSON.stringify([queue, minute, worker, tags, group]);
    const entry = this.#entries.get(key) ?? { queue, minute, worker, tags, group, figures: newAggregate(at) };
    this.#entries.set(key, entry);
    return entry;
  }
}

function entryText({ queue, minute, worker, tags, group, figures }: LogEntry): string {
  const values: EntryValues = [queue, minute, worker, tags, group, aggregateText(figures)];
  return JSON.stringify(values);
}

function readEntry(text: string): LogEntry {
  const [queue, minute, worker, tags, group, figures] = JSON.parse(text) as EntryValues;
  return { queue, minute, worker, tags, group, figures: readAggregate(figures) };
}

function isOf(entry: LogEntry, { queue, worker, tags, group }: Measurement, minute: number): boolean {
  return (
    entry.queue === queue &&
    entry.worker === worker &&
    entry.minute === minute &&
    entry.group === group &&
    (entry.tags === tags || (entry.tags.length === 0 && tags.length === 0))
  );
}

function copyOf(entry: LogEntry): LogEntry {
  return { ...entry, figures: readAggregate(aggregateText(entry.figures)) };
}
