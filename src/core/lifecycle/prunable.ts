/** What retention would take now: a look that changes nothing, for whoever wants to know before it happens. */
import type { Keep } from '../settings/settings.ts';
import type { Held } from '../statistics/storage.ts';

/** What would go of a queue, and why: older than it is kept, or beyond the number or the bytes that are kept. */
export interface Prunable {
  /** The queue. */
  readonly queue: string;
  /** The kind of jobs or files. */
  readonly kind: PrunableKind;
  /** How many are older than they are kept. */
  readonly byAge: number;
  /** How many are beyond the number that is kept. */
  readonly byCount: number;
  /** How many are beyond the bytes that are kept. */
  readonly byBytes: number;
  /** What would go takes up so much; beyond the first thousands it is taken from their mean. */
  readonly bytes: number;
}

export const PRUNABLE_KINDS = [
  'draft',
  'done',
  'failed',
  'cancelled',
  'results',
  'logs',
  'attachments',
  'statistics',
] as const;
export type PrunableKind = (typeof PRUNABLE_KINDS)[number];

/** How many a look goes through, the oldest first. */
export const MOST_LOOKED_AT = 2_000;

export interface Stock {
  readonly total: Held;
  /** How many of them are older than they are kept. */
  readonly old: number;
  /** Bytes of each, the oldest first, up to MOST_LOOKED_AT. */
  readonly oldest: readonly number[];
}

export type Surplus = Pick<Prunable, 'byAge' | 'byCount' | 'byBytes' | 'bytes'>;

/** What is too old goes; of the others what is too many; of the others what is too large together. */
export function surplusOf({ total, old, oldest }: Stock, keep: Keep): Surplus {
  const byCount = keep.count === null ? 0 : Math.max(0, total.count - old - keep.count);
  const gone = old + byCount;
  const bytes = bytesOfFirst(oldest, gone);
  const excess = keep.bytes === null ? 0 : total.bytes - bytes - keep.bytes;
  const byBytes = excess <= 0 ? 0 : Math.min(total.count - gone, firstOver(oldest.slice(gone), excess, meanOf(oldest)));
  return { byAge: old, byCount, byBytes, bytes: Math.min(total.bytes, bytesOfFirst(oldest, gone + byBytes)) };
}

/** Whether there is more than may be kept, whatever its age. */
export function isBeyond(held: Held, { count, bytes }: Keep): boolean {
  return (count !== null && held.count > count) || (bytes !== null && held.bytes > bytes);
}

export function isSurplus({ byAge, byCount, byBytes }: Surplus): boolean {
  return byAge + byCount + byBytes > 0;
}

/** How many of these have to go for so many bytes; beyond them, as many more as their mean says. */
function firstOver(sizes: readonly number[], excess: number, mean: number): number {
  let left = excess;
  for (const [place, bytes] of sizes.entries()) {
    left -= bytes;
    if (left <= 0) return place + 1;
  }
  return sizes.length + Math.ceil(left / Math.max(1, mean));
}

function bytesOfFirst(sizes: readonly number[], count: number): number {
  const known = sizes.slice(0, count).reduce((sum, bytes) => sum + bytes, 0);
  return known + Math.round(Math.max(0, count - sizes.length) * meanOf(sizes));
}

function meanOf(sizes: readonly number[]): number {
  return sizes.length === 0 ? 0 : sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length;
}
