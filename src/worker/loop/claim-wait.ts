/**
 * The wait of a claim in the store (`CallOptions.wait`): an idle worker gets its next job as the answer to a claim that is
 * already there, and not after an event and another round trip.
 *
 * A store that answers such a claim early and without jobs does not wait. The worker then claims on events and polls, as
 * it does while it runs jobs.
 */
import type { ClaimResult, ClaimWait, WaitSignal } from '../../core/ports/job-store.ts';
import { monotonicMs } from '../outcome/deadline.ts';

/** The poll that makes up for lost events. The store's clock relies on it too (GAP_MS in core/lifecycle/clock.ts). */
export const POLL_MS = 1_000;
/**
 * The lease of a claimed job counts from when the claim was sent, which is up to POLL_MS too early after a wait. So a
 * worker whose leases are shorter does not wait.
 */
export const MIN_WAITING_LEASE_MS = 4 * POLL_MS;

class Withdrawal implements WaitSignal {
  aborted = false;
  readonly #listeners = new Set<() => void>();

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  abort(): void {
    if (this.aborted) return;
    this.aborted = true;
    for (const listener of this.#listeners) listener();
  }
}

/** One wait, from the sending of its claim. */
export class OpenWait implements ClaimWait {
  readonly ms: number;
  readonly signal = new Withdrawal();
  readonly #sentAt = monotonicMs();

  constructor(ms: number) {
    this.ms = ms;
  }

  withdraw(): void {
    this.signal.abort();
  }

  /** Returns whether the store waited, for an answer without jobs; null if that cannot be told. */
  get wasKept(): boolean | null {
    if (this.signal.aborted) return null;
    // The timer of the store may be a little early.
    return monotonicMs() - this.#sentAt >= this.ms * 0.9;
  }
}

/** Returns the time until the next job is due. A job that is due already but was not granted waits for another reason. */
export function pollMs({ now, nextAt }: Pick<ClaimResult, 'now' | 'nextAt'>): number {
  if (nextAt === null || nextAt <= now) return POLL_MS;
  return Math.min(nextAt - now, POLL_MS);
}
