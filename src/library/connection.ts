/** What the parts of the library share: the store, and the few long-lived things over it. */
import { randomFillSync } from 'node:crypto';
import type { Store } from '../core/store.ts';
import { uuid7 } from '../core/uuid7.ts';
import { Endings } from './endings.ts';
import { SettingsKeeper } from './queue-settings.ts';
import type { Work } from './work.ts';

export interface Connection {
  readonly store: Store;
  /** The folder of this store on this machine, where there is one: logs and the journal go there. */
  readonly home: string | null;
  readonly endings: Endings;
  readonly settings: SettingsKeeper;
  /** Everything that works under this connection. */
  readonly works: Set<Work>;
  newId(): string;
}

export function createConnection(store: Store, home: string | null): Connection {
  return {
    store,
    home,
    endings: new Endings(store),
    settings: new SettingsKeeper(store),
    works: new Set(),
    newId: idSource(),
  };
}

const POOL_IDS = 400;
const BYTES_AN_ID = 10;

/** Random bytes are drawn for many ids at once: one at a time they cost more than the rest of an add. */
function idSource(): () => string {
  const pool = new Uint8Array(POOL_IDS * BYTES_AN_ID);
  let used = pool.length;
  return () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += BYTES_AN_ID;
    return uuid7(Date.now(), pool, used - BYTES_AN_ID);
  };
}
