/** What the parts of the library share: the store, and the few long-lived things over it. */
import type { Store } from '../core/ports/store.ts';
import { idSource } from '../worker/loop/id-source.ts';
import { SettingsCache } from '../worker/loop/settings-cache.ts';
import { Endings } from './endings.ts';
import { SharedScheduleRunner } from './shared-schedule-runner.ts';
import type { Work } from './work.ts';

export interface Connection {
  readonly store: Store;
  /** The folder of this store on this machine, where there is one: logs and the journal go there. */
  readonly home: string | null;
  readonly endings: Endings;
  readonly settings: SettingsCache;
  readonly schedules: SharedScheduleRunner;
  /** Everything that works under this connection. */
  readonly works: Set<Work>;
  newId(): string;
}

export function createConnection(store: Store, home: string | null): Connection {
  return {
    store,
    home,
    endings: new Endings(store),
    settings: new SettingsCache(store),
    schedules: new SharedScheduleRunner(store),
    works: new Set(),
    newId: idSource(),
  };
}
