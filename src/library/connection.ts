/** What the parts of the library share: the store and the long-lived objects over it. */
import type { Store } from '../core/ports/store.ts';
import type { Telemetry } from '../core/ports/telemetry.ts';
import { idSource } from '../worker/loop/id-source.ts';
import { SettingsCache } from '../worker/loop/settings-cache.ts';
import { ConnectionMetrics } from './connection-metrics.ts';
import { EndWaiter } from './end-waiter.ts';
import type { FilePlace } from './files/file-place.ts';
import { SharedScheduleRunner } from './shared-schedule-runner.ts';
import type { Work } from './work.ts';

export interface Connection {
  readonly store: Store;
  /** The data directory, for logs and the journal; null for a store without one. */
  readonly home: string | null;
  /** Where the files of jobs are. */
  readonly files: FilePlace;
  /** Null without telemetry. */
  readonly telemetry: Telemetry | null;
  readonly endWaiter: EndWaiter;
  readonly settings: SettingsCache;
  readonly schedules: SharedScheduleRunner;
  /** The workers of this connection. */
  readonly works: Set<Work>;
  /** The outboxes of this connection. */
  readonly outboxes: Set<{ close(): Promise<void> }>;
  readonly metrics: ConnectionMetrics;
  newId(): string;
}

export function createConnection(
  store: Store,
  home: string | null,
  { files, telemetry }: Pick<Connection, 'files' | 'telemetry'>,
): Connection {
  const works = new Set<Work>();
  return {
    store,
    home,
    files,
    telemetry,
    endWaiter: new EndWaiter(store),
    settings: new SettingsCache(store),
    schedules: new SharedScheduleRunner(store),
    works,
    outboxes: new Set(),
    metrics: new ConnectionMetrics(store, works),
    newId: idSource(),
  };
}
