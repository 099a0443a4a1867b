/** What a worker needs before its first claim, asked for again until the store answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RetryDelay } from '../outcome/retry-delay.ts';
import type { Reach } from './store-availability.ts';
import { canHeal } from './store-availability.ts';

export interface WaitOptions {
  readonly reach: Reach;
  random(): number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** Returns the answer, or null when the wait was ended. Throws an error that time does not heal. */
export async function whenAvailable<T>(call: () => Promise<T>, options: WaitOptions): Promise<T | null> {
  const { reach, random, signal } = options;
  const delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });
  while (!signal.aborted) {
    try {
      const answer = await call();
      reach.answered();
      return answer;
    } catch (error) {
      if (!canHeal(error)) throw error;
      reach.failed(error);
    }
    await sleep(delay.next(), undefined, { signal }).catch(() => undefined);
  }
  return null;
}
