/** What the parts of the library share: the store, and the few long-lived things over it. */
import type { Store } from '../core/store.ts';
import { idSource } from '../worker/id-source.ts';
import { SettingsKeeper } from '../worker/settings-keeper.ts';
import { Endings } from './endings.ts';
import { SharedKeeper } from './shared-keeper.ts';
import type { Work } from './work.ts';

export interface Connection {
  readonly store: Store;
  /** The folder of this store on this machine, where there is one: logs and the journal go there. */
  readonly home: string | null;
  readonly endings: Endings;
  readonly settings: SettingsKeeper;
  readonly schedules: SharedKeeper;
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
    schedules: new SharedKeeper(store),
    works: new Set(),
    newId: idSource(),
  };
}
