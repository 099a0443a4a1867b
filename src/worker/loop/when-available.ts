/** Repeats a call until the store answers: a worker needs some answers before its first claim. */
import { setTimeout as sleep } from 'node:timers/promises';
import { RetryDelay } from '../outcome/retry-delay.ts';
import type { StoreAvailability } from './store-availability.ts';
import { canHeal } from './store-availability.ts';

export interface WaitOptions {
  readonly availability: StoreAvailability;
  random(): number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

const FIRST_RETRY_MS = 50;
const MAX_RETRY_MS = 1_000;

/** Returns the answer, or null when the signal ended the wait. Throws an error that waiting cannot heal. */
export async function whenAvailable<T>(call: () => Promise<T>, options: WaitOptions): Promise<T | null> {
  const { availability, random, signal } = options;
  const delay = new RetryDelay({ firstMs: FIRST_RETRY_MS, maxMs: MAX_RETRY_MS, random });
  while (!signal.aborted) {
    try {
      const answer = await call();
      availability.answered();
      return answer;
    } catch (error) {
      if (!canHeal(error)) throw error;
      availability.failed(error);
    }
    await sleep(delay.next(), undefined, { signal }).catch(() => undefined);
  }
  return null;
}
