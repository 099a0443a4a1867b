/**
 * The port for store migration: everything a store holds is read row by row and written to another store unchanged.
 *
 * It is separate from JobStore because a migration is not part of a job's life: no row is decided about, counted or
 * published. A store under migration is closed: it accepts no changes except those of running attempts, so a job never
 * exists twice.
 *
 * Invariant: a repeated `write` changes nothing, and a store writes only while it takes part in that very migration.
 * Invariant: rows come in the order of their keys, the same in every store, so that two stores can be compared.
 */

import { byText } from '../input/text-order.ts';
import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import type { Step } from '../job/step.ts';
import { aggregateText, readAggregate } from '../statistics/aggregate.ts';
import type { SeriesPage } from '../statistics/series.ts';
import type { CellKind } from '../statistics/statistics.ts';
import { LonghaulError } from './errors.ts';
import type { StoredRecord } from './records.ts';

/** Also the order in which they are written: settings come before the jobs that use them. */
export const MIGRATION_PARTS = ['records', 'queues', 'statistics', 'jobs'] as const;
export type MigrationPart = (typeof MIGRATION_PARTS)[number];

/** A job with its history and steps, and the edges to its parents by their insertion numbers. */
export interface MigratedJob {
  readonly job: Job;
  readonly history: readonly HistoryRow[];
  readonly steps: readonly Step[];
  readonly parents: readonly MigratedEdge[];
  /** Whether it holds its unique key, and until when; null if it does not. */
  readonly holds: { readonly until: number | null } | null;
}
export interface MigratedEdge {
  readonly seq: number;
  readonly isOpen: boolean;
}

/** A queue that has or had a job, with its progress: turns of its keys, the state of limits/rate.ts, its throughput. */
export interface MigratedQueue {
  readonly name: string;
  readonly turn: number;
  readonly rateAt: number;
  readonly turns: readonly (readonly [key: string, turn: number])[];
  readonly series: readonly SeriesPage[];
}

/** The cells of one queue and day, by kind and name; `figures` is the text of statistics/aggregate.ts. */
export interface MigratedDay {
  readonly queue: string;
  readonly day: number;
  readonly cells: readonly { readonly kind: CellKind; readonly name: string; readonly figures: string }[];
}

export interface MigrationValues {
  readonly records: StoredRecord;
  readonly queues: MigratedQueue;
  readonly statistics: MigratedDay;
  readonly jobs: MigratedJob;
}
export interface MigrationRow<Part extends MigrationPart = MigrationPart> {
  readonly key: string;
  readonly value: MigrationValues[Part];
}
export interface MigrationPage<Part extends MigrationPart = MigrationPart> {
  readonly rows: readonly MigrationRow<Part>[];
  /** The key to continue from; null at the end. */
  readonly next: string | null;
}

/** The numbers that a store has given out: none may be given again. */
export interface IssuedNumbers {
  readonly seq: number;
  readonly token: number;
  readonly version: number;
}

/**
 * The state of a store in a migration. A target that is `over` is an ordinary store again; any other state is closed.
 */
export interface MigrationState {
  readonly move: string;
  /** `import`: jobs of another system are written here; nothing else in the store changes. */
  readonly role: 'source' | 'target' | 'import';
  /** The other store, for display: without secrets. */
  readonly other: string;
  readonly state: 'moving' | 'over';
  readonly at: number;
  /** Of a target: its progress. Of a source that is over: the jobs that were left behind. */
  readonly done: { readonly part: MigrationPart; readonly after: string | null } | null;
  readonly left: readonly string[];
}

export interface MigrationPort {
  standing(): Promise<MigrationState | null>;
  /** Sets the state, only if it equals `before`. Returns whether it did. */
  stand(next: MigrationState | null, before: MigrationState | null): Promise<boolean>;
  numbers(): Promise<IssuedNumbers>;
  read<Part extends MigrationPart>(part: Part, after: string | null, limit: number): Promise<MigrationPage<Part>>;
  /** Throws `refused` unless the store is the target of this migration. */
  write<Part extends MigrationPart>(batch: MigrationBatch<Part>): Promise<void>;
  /** Deletes everything that a migration writes. Only for the target of this migration. */
  clear(move: string): Promise<void>;
}

export interface MigrationBatch<Part extends MigrationPart = MigrationPart> {
  readonly move: string;
  readonly part: Part;
  readonly rows: readonly MigrationRow<Part>[];
  /** Keys of records that no longer exist. */
  readonly gone: readonly string[];
  /** Raises the store's numbers to these if they are lower. */
  readonly numbers: IssuedNumbers;
  /** The progress of the target after this batch; null if it makes no progress. */
  readonly done: MigrationState['done'];
}

/** Implements the port over a function that carries a call by its name. */
export function migrationOver(
  carry: (name: keyof MigrationPort, argument: unknown) => Promise<unknown>,
): MigrationPort {
  return {
    standing: () => carry('standing', undefined) as Promise<MigrationState | null>,
    stand: (next, before) => carry('stand', { next, before }) as Promise<boolean>,
    numbers: () => carry('numbers', undefined) as Promise<IssuedNumbers>,
    read: <Part extends MigrationPart>(part: Part, after: string | null, limit: number) =>
      carry('read', { part, after, limit }) as Promise<MigrationPage<Part>>,
    write: (batch) => carry('write', batch) as Promise<void>,
    clear: (move) => carry('clear', move) as Promise<void>,
  };
}

/** Records that nodes write about themselves, and the migration state: not part of the migrated data. */
export const UNMIGRATED_RECORDS: readonly string[] = ['moving', 'node', 'node-order', 'clock'];
export const MIGRATION_STATE_RECORD = { kind: 'moving', key: 'standing' } as const;

/** Separates the parts of a key; no kind and no queue contains it. */
const SEPARATOR = '\u001f';
export const keyOfRecord = ({ kind, key }: { readonly kind: string; readonly key: string }): string =>
  `${kind}${SEPARATOR}${key}`;
export const keyOfDay = ({ queue, day }: { readonly queue: string; readonly day: number }): string =>
  `${queue}${SEPARATOR}${day}`;

/** Returns the two parts of such a key. */
export function partsOfKey(key: string): readonly [string, string] {
  const at = key.indexOf(SEPARATOR);
  return [key.slice(0, at), key.slice(at + 1)];
}

/** Orders two keys of a part. */
export function keyOrder(part: MigrationPart, a: string, b: string): number {
  if (part === 'jobs') return Number(a) - Number(b);
  if (part === 'queues') return byText(a, b);
  const [[firstA, restA], [firstB, restB]] = [partsOfKey(a), partsOfKey(b)];
  const rest = part === 'statistics' ? Number(restA) - Number(restB) : byBytes(restA, restB);
  return byText(firstA, firstB) || rest;
}

/** Orders texts by their UTF-8 bytes; JavaScript's own order differs for surrogates. */
export function byBytes(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const distance = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (distance !== 0) return distance;
  }
  return left.length - right.length;
}

/** Returns why a store accepts no changes, or null if it does. */
export function closedReason(standing: MigrationState | null): string | null {
  if (standing === null) return null;
  const { role, state, other } = standing;
  if (role === 'import') return `jobs are being imported from ${other}; until then the store is closed`;
  if (role === 'target') return state === 'over' ? null : `the store is being filled from ${other}`;
  return state === 'over' ? `the store has moved to ${other}` : `the store is moving to ${other}`;
}

/** Returns the cells of a day in the form that every store returns: by kind and name, with canonical texts. */
export function canonicalCells(cells: MigratedDay['cells']): MigratedDay['cells'] {
  const plain = cells.map(({ kind, name, figures }) => ({ kind, name, figures: canonicalAggregate(figures) }));
  return plain.sort((a, b) => byText(a.kind, b.kind) || byText(a.name, b.name));
}

/** Sorts the buckets. */
function canonicalAggregate(text: string): string {
  const { wait, run, ...rest } = readAggregate(text);
  const sorted = ({ buckets, ...spread }: typeof wait) => ({
    ...spread,
    buckets: new Map([...buckets].sort(([a], [b]) => a - b)),
  });
  return aggregateText({ wait: sorted(wait), run: sorted(run), ...rest });
}

export function notMigrationTarget(move: string): LonghaulError {
  return new LonghaulError('refused', `the store is not, or is no longer, the target of migration ${move}`);
}
