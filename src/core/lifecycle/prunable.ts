/** Computes what retention would delete now, without deleting it. */
import type { Keep } from '../settings/settings.ts';
import type { StoredSize } from '../statistics/storage.ts';

/** Items of a queue that retention would delete, by reason: too old, too many, or too many bytes. */
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
  /** Their size. Beyond the scanned items it is estimated from the mean. */
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

/** How many items are scanned, oldest first. */
export const MAX_PRUNABLE_SCAN = 2_000;

export interface RetainedItems {
  readonly total: StoredSize;
  /** How many of them exceed the maximum age. */
  readonly old: number;
  /** Sizes in bytes, oldest first, up to MAX_PRUNABLE_SCAN. */
  readonly oldest: readonly number[];
}

export type Surplus = Pick<Prunable, 'byAge' | 'byCount' | 'byBytes' | 'bytes'>;

/** Returns the surplus: first by age, then by count, then by bytes. */
export function surplusOf({ total, old, oldest }: RetainedItems, keep: Keep): Surplus {
  const byCount = keep.count === null ? 0 : Math.max(0, total.count - old - keep.count);
  const gone = old + byCount;
  const bytes = bytesOfFirst(oldest, gone);
  const excess = keep.bytes === null ? 0 : total.bytes - bytes - keep.bytes;
  const byBytes =
    excess <= 0 ? 0 : Math.min(total.count - gone, countToExceed(oldest.slice(gone), excess, meanOf(oldest)));
  return { byAge: old, byCount, byBytes, bytes: Math.min(total.bytes, bytesOfFirst(oldest, gone + byBytes)) };
}

/** Returns whether there is more than the count or the bytes allow, whatever the age. */
export function exceedsKeep(held: StoredSize, { count, bytes }: Keep): boolean {
  return (count !== null && held.count > count) || (bytes !== null && held.bytes > bytes);
}

export function hasSurplus({ byAge, byCount, byBytes }: Surplus): boolean {
  return byAge + byCount + byBytes > 0;
}

/** Returns how many items make up the excess bytes. Beyond the known sizes the number is estimated from the mean. */
function countToExceed(sizes: readonly number[], excess: number, mean: number): number {
  let left = excess;
  for (const [index, bytes] of sizes.entries()) {
    left -= bytes;
    if (left <= 0) return index + 1;
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
