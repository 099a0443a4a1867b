/** Connections for tests: over a memory store with a clock that the test moves, and over a store with faults. */
import { openConnection } from '../library/connect.ts';
import { temporaryPlace } from '../library/files/choose-place.ts';
import type { Longhaul } from '../library/index.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { type FaultOptions, type FaultyStore, faultyStore } from './faulty-store.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

/** A connection for tests, and its clock. */
export interface TestConnection {
  /** A connection to a memory store that follows `clock`. */
  readonly longhaul: Longhaul;
  /** The clock of the store. */
  readonly clock: VirtualClock;
}

/** Opens a connection over a new memory store. `startAt` is the first time of its clock, in epoch milliseconds. */
export function connectForTests(options: { startAt?: number } = {}): TestConnection {
  const clock = createVirtualClock(options.startAt);
  const store = openMemoryStore({ now: clock.now });
  const { longhaul, wakeAll } = openConnection(store, null, { files: temporaryPlace(store) });
  clock.onAdvance(wakeAll);
  return { longhaul, clock };
}

/** A connection whose calls meet faults. */
export interface FaultyConnection {
  /** The connection with faults. `close()` leaves the store of the other one open. */
  readonly longhaul: Longhaul;
  /** The store with faults: its seed, the faults so far, and `heal()`. */
  readonly store: FaultyStore;
}

/**
 * Opens a second connection to the store of another, with faults. The other one stays without: a test uses it to check
 * what became of the jobs. Files of handlers are in a temporary directory.
 */
export function connectWithFaults(
  { longhaul: other, clock }: { readonly longhaul: Longhaul; readonly clock?: VirtualClock },
  options: FaultOptions = {},
): FaultyConnection {
  const store = { ...faultyStore(other.store, options), close: async () => undefined };
  const { longhaul, wakeAll } = openConnection(store, null, { files: temporaryPlace(store) });
  clock?.onAdvance(wakeAll);
  return { longhaul, store };
}
