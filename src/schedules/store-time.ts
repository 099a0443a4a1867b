/**
 * The time of the store, whatever the clock of this machine shows: schedules use it, as leases do.
 *
 * It is measured by writing a record and reading its time of writing. Between measurements this machine's clock continues
 * from there. It is measured every minute, and again when this machine's clock was set or the machine slept.
 */
import type { Records } from '../core/ports/records.ts';
import { monotonicMs } from '../worker/outcome/deadline.ts';

export const CLOCK_RECORD = 'clock';
const KEY = 'schedules';
const MEASURED_FOR_MS = 60_000;
/** A clock that deviates this much from the monotonic one was set. */
const MAX_DRIFT_MS = 500;

export interface Clocks {
  /** This machine's clock. */
  now(): number;
  monotonic(): number;
}

export const OWN_CLOCKS: Clocks = { now: () => Date.now(), monotonic: monotonicMs };

/** Returns how far the store's clock is ahead of this machine's: the least that the measurement allows. */
export async function clockAhead(records: Records, clocks: Clocks): Promise<number> {
  const sentAt = clocks.now();
  await records.put({ kind: CLOCK_RECORD, key: KEY, value: '{}' });
  const answeredAt = clocks.now();
  const writtenAt = (await records.get(CLOCK_RECORD, KEY))?.updatedAt ?? sentAt;
  if (writtenAt > answeredAt) return writtenAt - answeredAt;
  return writtenAt < sentAt ? writtenAt - sentAt : 0;
}

export async function readStoreTime(records: Records, clocks: Clocks = OWN_CLOCKS): Promise<number> {
  const ahead = await clockAhead(records, clocks);
  return clocks.now() + ahead;
}

export class StoreTime {
  readonly #records: Records;
  readonly #clocks: Clocks;
  #generation = 0;
  #measured: { readonly ahead: number; readonly now: number; readonly monotonic: number } | null = null;

  constructor(records: Records, clocks: Clocks) {
    this.#records = records;
    this.#clocks = clocks;
  }

  async now(): Promise<number> {
    // A call of `forget` during the measurement makes it invalid.
    while (!this.#isFresh()) {
      const generation = this.#generation;
      const ahead = await clockAhead(this.#records, this.#clocks);
      const [now, monotonic] = [this.#clocks.now(), this.#clocks.monotonic()];
      if (generation === this.#generation) this.#measured = { ahead, now, monotonic };
    }
    return this.#clocks.now() + (this.#measured?.ahead ?? 0);
  }

  /** Makes the next `now` measure again. */
  forget(): void {
    this.#measured = null;
    this.#generation += 1;
  }

  #isFresh(): boolean {
    if (this.#measured === null) return false;
    const passed = this.#clocks.monotonic() - this.#measured.monotonic;
    const drift = this.#clocks.now() - this.#measured.now - passed;
    return passed < MEASURED_FOR_MS && Math.abs(drift) < MAX_DRIFT_MS;
  }
}
