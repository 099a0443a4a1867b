/**
 * The size of a queue's ended jobs: their texts, in bytes of UTF-8. Retention and views use it.
 *
 * Every store keeps running sums, updated in the step that ends or deletes a job, so that no call has to add up all
 * jobs.
 */
import type { EndedState, Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';

export interface StoredSize {
  readonly count: number;
  readonly bytes: number;
}

/** `results`: of done jobs; their bytes are included in `done`. `logs`: of handlers, in the store; one for each attempt. */
export interface QueueStorage extends Readonly<Record<EndedState | 'results' | 'logs', StoredSize>> {
  /** The queue. */
  readonly queue: string;
}

/** The sums that a store keeps, in the order in which they are written. */
export const STORAGE_SUMS = ['done', 'failed', 'cancelled', 'results', 'resultBytes'] as const;
/** Bytes by state; the number of results and their bytes. */
export type StorageSums = Readonly<Record<(typeof STORAGE_SUMS)[number], number>>;

export function storageOf(
  queue: string,
  counts: Readonly<Record<EndedState, number>>,
  sums: StorageSums,
  logs: StoredSize = { count: 0, bytes: 0 },
): QueueStorage {
  // A sum may be off if a server was stopped in the middle of a step; with no jobs left it is right again.
  const held = (count: number, bytes: number): StoredSize => ({ count, bytes: count === 0 ? 0 : Math.max(0, bytes) });
  return {
    queue,
    done: held(counts.done, sums.done),
    failed: held(counts.failed, sums.failed),
    cancelled: held(counts.cancelled, sums.cancelled),
    results: held(Math.min(counts.done, Math.max(0, sums.results)), sums.resultBytes),
    logs: held(logs.count, logs.bytes),
  };
}

/** Returns the bytes of an ended job: data, result, checkpoint and steps. 0 for any other job. */
export function storedBytes({ state, data, result, checkpoint, steps }: Job): number {
  return isEnded(state) ? bytesOf(data) + bytesOf(result) + bytesOf(checkpoint) + (steps?.bytes ?? 0) : 0;
}

/** Returns null if the job has no result. */
export function resultBytes({ state, result }: Job): number | null {
  return state === 'done' && result !== null ? bytesOf(result) : null;
}

/** Returns the bytes in UTF-8. A lone surrogate is written as three bytes, as every encoder does. */
export function bytesOf(text: string | null): number {
  if (text === null) return 0;
  let bytes = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    // Each half of a pair counts two, the whole four.
    bytes += code < 0x800 ? 1 : isHalfOfPair(text, at) ? 1 : 2;
  }
  return bytes;
}

function isHalfOfPair(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code >= 0xd800 && code < 0xdc00) return (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
  return (code & 0xfc00) === 0xdc00 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
}
