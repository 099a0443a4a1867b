/** `connect()`: opens the store of an address and creates a connection. The one place that assembles the parts. */
import type { Check } from '../core/input/check.ts';
import { checked, flag, object, oneOf, show, text } from '../core/input/check.ts';
import type { Store } from '../core/ports/store.ts';
import type { Telemetry, TelemetrySource } from '../core/ports/telemetry.ts';
import { tracedStore } from '../telemetry/traced-store.ts';
import { createConnection } from './connection.ts';
import { choosePlace } from './files/choose-place.ts';
import { type FilePlace, noPlace } from './files/file-place.ts';
import { Longhaul } from './longhaul.ts';
import { requireOwnFiles } from './own-files.ts';
import type { StoreOptions } from './store-address.ts';
import { DEFAULT_ADDRESS, openStoreAt } from './store-address.ts';

/** Options of `connect`. */
export interface ConnectOptions extends StoreOptions {
  /**
   * Redis: the address of a node that shares the store, for the files of jobs (`http://host:3333`, with its `token`). With
   * `home`, new files stay in the data directory, and the node is asked for those of other machines.
   */
  readonly files?: string;
  /** Spans for adds and attempts: `otel()`. Default: none. */
  readonly telemetry?: TelemetrySource;
}

const telemetrySource: Check<TelemetrySource> = (value, report, path) => {
  const source = value as TelemetrySource;
  if (typeof (value as Partial<TelemetrySource> | null)?.open !== 'function')
    report(path, `must be otel(), not ${show(value)}`);
  return source;
};
const pathText = text({ max: 4_096 });
const shape = object({
  namespace: text({ max: 64, pattern: /^[A-Za-z0-9_.-]+$/, must: 'must be of A-Z a-z 0-9 _ . -' }),
  durability: text({ max: 32 }),
  clock: oneOf('store', 'caller', 'guarded'),
  create: flag,
  tls: object({ ca: pathText, cert: pathText, key: pathText, servername: text({ max: 255 }) }),
  home: text({ max: 4_096, pattern: /^[^\0]+$/, must: 'must be the path of a directory' }),
  files: text({ max: 4_096, pattern: /^(https?:\/\/|unix:)./, must: 'must be http://host:port of a node' }),
  telemetry: telemetrySource,
  token: text({ max: 256, pattern: /^[\x21-\x7e]+$/, must: 'must be a token as `longhaul token` made it' }),
});

/**
 * Opens a connection. The address is a directory (SQLite, default `./longhaul`), `redis://host:port`, a node's API
 * (`http://host:3333` with a token, `unix:/path/node.sock`), or `memory:`. A store without a directory of its own keeps
 * files in the data directory `home`, if it is given.
 *
 *     const longhaul = await connect();
 */
export async function connect(address: string = DEFAULT_ADDRESS, options: ConnectOptions = {}): Promise<Longhaul> {
  const checkedOptions = checked('connect options', options, shape);
  const { files: node, telemetry: source, ...storeOptions } = checkedOptions;
  if (!address.startsWith('memory:')) requireOwnFiles();
  const telemetry = source === undefined ? null : await source.open();
  const { store, home } = await openStoreAt(address, storeOptions);
  try {
    const files = choosePlace({ address, store, home, node, token: storeOptions.token });
    return openConnection(telemetry === null ? store : tracedStore(store, telemetry), home, { files, telemetry })
      .longhaul;
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Creates a connection over an open store, without files unless a place is given: for the testing kit and the compat layers. */
export function openConnection(
  store: Store,
  home: string | null,
  { files = noPlace(store), telemetry = null }: { files?: FilePlace; telemetry?: Telemetry | null } = {},
): { longhaul: Longhaul; wakeAll: () => void } {
  const connection = createConnection(store, home, { files, telemetry });
  const wakeAll = (): void => {
    for (const work of connection.works) work.wake();
    connection.schedules.wake();
  };
  return { longhaul: new Longhaul(connection), wakeAll };
}
