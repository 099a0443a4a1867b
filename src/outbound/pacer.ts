/**
 * A limit of bytes a second, shared by all that go the same way. Time is the monotonic clock's: a bucket that holds a
 * fifth of a second, so that a pause is never made up for by a flood.
 */
import { setTimeout as sleep } from 'node:timers/promises';

export interface Pacer {
  readonly bytesPerSecond: number;
  /** Resolved when so many bytes may go. */
  take(bytes: number, signal?: AbortSignal): Promise<void>;
}

const BURST_S = 0.2;

export function createPacer(bytesPerSecond: number): Pacer {
  let freeAt = performance.now();
  return {
    bytesPerSecond,
    async take(bytes, signal) {
      const now = performance.now();
      freeAt = Math.max(freeAt, now - BURST_S * 1_000) + (bytes / bytesPerSecond) * 1_000;
      if (freeAt > now) await sleep(freeAt - now, undefined, signal === undefined ? {} : { signal });
    },
  };
}
