/**
 * A token bucket in bytes per second, shared by all uploads to one destination. It uses the monotonic clock and holds
 * a fifth of a second, so that a pause is not followed by a burst.
 */
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Pacer {
  readonly bytesPerSecond: number;
  /** Resolves when this many bytes may be sent. */
  take(bytes: number, signal?: AbortSignal): Promise<void>;
}

const BURST_S = 0.2;
/** Small enough that a slow link still shows progress. */
const CHUNK_BYTES = 16 * 1024;

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

/** Limits the rate of a stream. It reads one chunk at a time, so a slow receiver slows the source down. */
export async function* paced(
  source: Readable,
  {
    pacer,
    signal,
    onChunk,
  }: { readonly pacer: Pacer | null; readonly signal: AbortSignal | undefined; onChunk(bytes: number): void },
): AsyncGenerator<Buffer> {
  for await (const large of source as AsyncIterable<Buffer>) {
    for (const chunk of pacer === null ? [large] : split(large)) {
      await pacer?.take(chunk.length, signal);
      onChunk(chunk.length);
      yield chunk;
    }
  }
}

function* split(large: Buffer): Generator<Buffer> {
  for (let start = 0; start < large.length; start += CHUNK_BYTES) yield large.subarray(start, start + CHUNK_BYTES);
}
