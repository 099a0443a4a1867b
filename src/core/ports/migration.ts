/**
 * The port by which a store moves house: everything it holds is read row by row and written elsewhere as it is.
 *
 * It stands beside JobStore because nothing here is the life of a job: no row is decided about, counted or told of.
 * A store in a move stands closed: it takes no changes but those of attempts that run, so a job is never alive twice.
 *
 * Invariant: what `write` is given again changes nothing, and it writes only while the store stands in that very move.
 * Invariant: rows come in the order of their keys, the same in every store, so that two stores can be compared.
 */

import { byText } from '../input/text-order.ts';
import type { HistoryRow } from '../job/history.ts';
import type { Job } from '../job/job.ts';
import { figuresText, readFigures } from '../statistics/aggregate.ts';
import type { SeriesPage } from '../statistics/series.ts';
import type { CellKind } from '../statistics/statistics.ts';
import { LonghaulError } from './errors.ts';
import type { StoredRecord } from './records.ts';

/** Also the order in which they are written: settings come before the jobs that go by them. */
export const MOVED_PARTS = ['records', 'queues', 'statistics', 'jobs'] as const;
export type MovedPart = (typeof MOVED_PARTS)[number];

/** With what belongs to nobody else: its history, and the edges to its parents by their insertion numbers. */
export interface MovedJob {
  readonly job: Job;
  readonly history: readonly HistoryRow[];
  readonly parents: readonly MovedEdge[];
  /** Whether it holds its unique key, and until when; null when it does not. */
  readonly holds: { readonly until: number | null } | null;
}
export interface MovedEdge {
  readonly seq: number;
  readonly isOpen: boolean;
}

/** A queue that has or had a job, and how far it has come: turns of its keys, what core/limits/rate.ts remembers, its throughput. */
export interface MovedQueue {
  readonly name: string;
  readonly turn: number;
  readonly rateAt: number;
  readonly turns: readonly (readonly [key: string, turn: number])[];
  readonly series: readonly SeriesPage[];
}

/** The cells of one queue and day, by kind and name; figures as core/statistics/aggregate.ts writes them. */
export interface MovedDay {
  readonly queue: string;
  readonly day: number;
  readonly cells: readonly { readonly kind: CellKind; readonly name: string; readonly figures: string }[];
}

export interface MovedValues {
  readonly records: StoredRecord;
  readonly queues: MovedQueue;
  readonly statistics: MovedDay;
  readonly jobs: MovedJob;
}
export interface MovedRow<Part extends MovedPart = MovedPart> {
  readonly key: string;
  readonly value: MovedValues[Part];
}
export interface MovedPage<Part extends MovedPart = MovedPart> {
  readonly rows: readonly MovedRow<Part>[];
  /** To go on from; null at the end. */
  readonly next: string | null;
}

/** The numbers that a store has given out: none of them may be given again. */
export interface GivenNumbers {
  readonly seq: number;
  readonly token: number;
  readonly version: number;
}

/** Where a store stands in a move. A target that is `over` is an ordinary store again; everything else is closed. */
export interface Standing {
  readonly move: string;
  /** `import`: jobs of another system are written here; nothing else of the store is touched. */
  readonly role: 'source' | 'target' | 'import';
  /** The other store, as it is shown to people: without secrets. */
  readonly other: string;
  readonly state: 'moving' | 'over';
  readonly at: number;
  /** Of a target: how far it has come. Of a source that is over: the jobs that were left behind. */
  readonly done: { readonly part: MovedPart; readonly after: string | null } | null;
  readonly left: readonly string[];
}

export interface MigrationPort {
  standing(): Promise<Standing | null>;
  /** Only if it stands as `before` says. Answers whether it did. */
  stand(next: Standing | null, before: Standing | null): Promise<boolean>;
  numbers(): Promise<GivenNumbers>;
  read<Part extends MovedPart>(part: Part, after: string | null, limit: number): Promise<MovedPage<Part>>;
  /** Throws `refused` unless it stands in this move as its target. */
  write<Part extends MovedPart>(batch: MovedBatch<Part>): Promise<void>;
  /** Forgets all that a move brings. Only of a target in this move. */
  clear(move: string): Promise<void>;
}

export interface MovedBatch<Part extends MovedPart = MovedPart> {
  readonly move: string;
  readonly part: Part;
  readonly rows: readonly MovedRow<Part>[];
  /** Keys of records that are no longer there. */
  readonly gone: readonly string[];
  /** Raised to these where they are lower. */
  readonly numbers: GivenNumbers;
  /** How far this brings the target; null where it brings it no further. */
  readonly done: Standing['done'];
}

/** The port over anything that carries a call by its name. */
export function migrationOver(
  carry: (name: keyof MigrationPort, argument: unknown) => Promise<unknown>,
): MigrationPort {
  return {
    standing: () => carry('standing', undefined) as Promise<Standing | null>,
    stand: (next, before) => carry('stand', { next, before }) as Promise<boolean>,
    numbers: () => carry('numbers', undefined) as Promise<GivenNumbers>,
    read: <Part extends MovedPart>(part: Part, after: string | null, limit: number) =>
      carry('read', { part, after, limit }) as Promise<MovedPage<Part>>,
    write: (batch) => carry('write', batch) as Promise<void>,
    clear: (move) => carry('clear', move) as Promise<void>,
  };
}

/** What nodes write of themselves as they go, and where a store stands: none of it belongs to the jobs. */
export const STAYING_RECORDS: readonly string[] = ['moving', 'node', 'node-order', 'clock'];
export const STANDING_RECORD = { kind: 'moving', key: 'standing' } as const;

/** Between the parts of a key; no kind and no queue contains it. */
const BETWEEN = '\u001f';
export const keyOfRecord = ({ kind, key }: { readonly kind: string; readonly key: string }): string =>
  `${kind}${BETWEEN}${key}`;
export const keyOfDay = ({ queue, day }: { readonly queue: string; readonly day: number }): string =>
  `${queue}${BETWEEN}${day}`;

/** The two parts of such a key. */
export function partsOfKey(key: string): readonly [string, string] {
  const at = key.indexOf(BETWEEN);
  return [key.slice(0, at), key.slice(at + 1)];
}

/** Which of two keys of a part comes first. */
export function keyOrder(part: MovedPart, a: string, b: string): number {
  if (part === 'jobs') return Number(a) - Number(b);
  if (part === 'queues') return byText(a, b);
  const [[firstA, restA], [firstB, restB]] = [partsOfKey(a), partsOfKey(b)];
  const rest = part === 'statistics' ? Number(restA) - Number(restB) : byBytes(restA, restB);
  return byText(firstA, firstB) || rest;
}

/** As UTF-8 orders them: JavaScript's own order differs where one of them needs a surrogate. */
export function byBytes(a: string, b: string): number {
  const [left, right] = [Array.from(a), Array.from(b)];
  for (let at = 0; at < Math.min(left.length, right.length); at += 1) {
    const distance = (left[at]?.codePointAt(0) ?? 0) - (right[at]?.codePointAt(0) ?? 0);
    if (distance !== 0) return distance;
  }
  return left.length - right.length;
}

/** Why a store takes no changes; null when it does. */
export function closedWords(standing: Standing | null): string | null {
  if (standing === null) return null;
  const { role, state, other } = standing;
  if (role === 'import') return `jobs are being imported from ${other}; until then the store is closed`;
  if (role === 'target') return state === 'over' ? null : `the store is being filled from ${other}`;
  return state === 'over' ? `the store has moved to ${other}` : `the store is moving to ${other}`;
}

/** The cells of a day as every store reads them: by kind and name, and their figures in one and the same text. */
export function canonicalCells(cells: MovedDay['cells']): MovedDay['cells'] {
  const plain = cells.map(({ kind, name, figures }) => ({ kind, name, figures: plainFigures(figures) }));
  return plain.sort((a, b) => byText(a.kind, b.kind) || byText(a.name, b.name));
}

/** Buckets in their order. */
function plainFigures(text: string): string {
  const { wait, run, ...rest } = readFigures(text);
  const sorted = ({ buckets, ...spread }: typeof wait) => ({
    ...spread,
    buckets: new Map([...buckets].sort(([a], [b]) => a - b)),
  });
  return figuresText({ wait: sorted(wait), run: sorted(run), ...rest });
}

export function notInMove(move: string): LonghaulError {
  return new LonghaulError('refused', `the store is not, or no longer, the target of the move ${move}`);
}
