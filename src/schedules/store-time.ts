/**
 * What time it is for the store, whatever the clock of this machine says: schedules fire by it, as leases do.
 *
 * Measured by writing a record and reading when the store says it was written; in between, by this machine's clock from
 * there. Measured anew every minute, and at once when the clock of this machine was set or the machine slept.
 */
import type { Records } from '../core/ports/records.ts';
import { monotonicMs } from '../worker/outcome/monotonic.ts';

export const CLOCK_RECORD = 'clock';
const KEY = 'schedules';
const MEASURED_FOR_MS = 60_000;
/** A clock that runs so much faster or slower than the monotonic one was set. */
const MOST_DRIFT_MS = 500;

export interface Clocks {
  /** This machine's clock. */
  now(): number;
  monotonic(): number;
}

export const OWN_CLOCKS: Clocks = { now: () => Date.now(), monotonic: monotonicMs };

/** How far the store's clock is ahead of this machine's: of all that the measurement allows, the least. */
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
  #forgotten = 0;
  #measured: { readonly ahead: number; readonly now: number; readonly monotonic: number } | null = null;

  constructor(records: Records, clocks: Clocks) {
    this.#records = records;
    this.#clocks = clocks;
  }

  async now(): Promise<number> {
    // Also when somebody says meanwhile that the time is another one: what was measured before counts no more.
    while (!this.#isFresh()) {
      const forgotten = this.#forgotten;
      const ahead = await clockAhead(this.#records, this.#clocks);
      const [now, monotonic] = [this.#clocks.now(), this.#clocks.monotonic()];
      if (forgotten === this.#forgotten) this.#measured = { ahead, now, monotonic };
    }
    return this.#clocks.now() + (this.#measured?.ahead ?? 0);
  }

  /** The next look measures anew. */
  forget(): void {
    this.#measured = null;
    this.#forgotten += 1;
  }

  #isFresh(): boolean {
    if (this.#measured === null) return false;
    const passed = this.#clocks.monotonic() - this.#measured.monotonic;
    const drift = this.#clocks.now() - this.#measured.now - passed;
    return passed < MEASURED_FOR_MS && Math.abs(drift) < MOST_DRIFT_MS;
  }
}
