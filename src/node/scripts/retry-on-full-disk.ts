/** Repeats a step of a script's end while the disk is full: an ended script must not count as failed for it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../core/ports/errors.ts';
import { isDiskFullError } from '../../runner/log/disk-watch.ts';

const RETRY_MS = 1_000;

export interface FullDiskRetryOptions {
  /** Ends the wait: the step's error is thrown. */
  readonly signal: AbortSignal;
  readonly retryMs?: number;
  /** Called once, when the wait begins. */
  onWait(error: unknown): void;
}

export async function retryOnFullDisk<T>(step: () => T | Promise<T>, options: FullDiskRetryOptions): Promise<T> {
  const { signal, onWait, retryMs = RETRY_MS } = options;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await step();
    } catch (error) {
      if (!isFull(error) || signal.aborted) throw error;
      if (isFirst) onWait(error);
      // An abort ends the wait early, and the step is tried once more.
      await sleep(retryMs, null, { ref: false, signal }).catch(() => undefined);
    }
  }
}

const isFull = (error: unknown): boolean =>
  error instanceof LonghaulError ? error.code === 'store-full' : isDiskFullError(error);
