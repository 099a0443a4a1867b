/**
 * The testing kit, `longhaul/testing`: a connection over a memory store with a clock that the test moves.
 *
 *     const { longhaul, clock } = connectForTests();
 *     await longhaul.queue('mail').add({ to: 'a@b' }, { delay: '3d' });
 *     clock.advance('3d');
 */

import { openConnection } from '../library/connect.ts';
import { temporaryPlace } from '../library/files/choose-place.ts';
import type { Longhaul } from '../library/index.ts';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import type { VirtualClock } from './virtual-clock.ts';
import { createVirtualClock } from './virtual-clock.ts';

export type { VirtualClock } from './virtual-clock.ts';
export { waitFor } from './waiting.ts';

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
