/**
 * The Redis store: one namespace of a Redis or Valkey server, shared by all processes that open it.
 *
 * Lua decides (lua/), by the rules of core/lifecycle/lifecycle.ts. This side encodes requests, decodes answers and finds
 * the primary.
 */
import type { Store, StoreDescription } from '../../core/ports/store.ts';
import { portsOver, RedisCalls } from './calls/redis-calls.ts';
import { Events } from './client/events.ts';
import { type RedisStoreOptions, settingsOf } from './client/options.ts';
import { PrimaryConnection } from './client/primary-connection.ts';
import { keyPrefix } from './client/redis-client.ts';
import { checkStart } from './client/start-checks.ts';

/** An open Redis store. */
export interface RedisStore extends Store {
  /** Settings of the server that weaken the promises of this store, for the caller to show. */
  readonly notices: readonly string[];
  /** Server, role, replicas and durability when it was opened. */
  readonly facts: readonly string[];
  describe(): StoreDescription;
}

/** Opens a Redis store. Rejects when the server is unreachable, too old or misconfigured. */
export async function openRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  const settings = settingsOf(options);
  const { connection, facts } = await PrimaryConnection.open(settings);
  const { notices, found } = await checkStart(connection, settings, facts).catch((error: unknown) => {
    connection.close();
    throw connection.problem(error, 'opening');
  });
  const events = new Events(keyPrefix(settings), connection);
  const calls = new RedisCalls({ connection, settings, events });
  return {
    ...portsOver(calls.call, events.subscribe),
    isShared: true,
    notices,
    facts: found,
    describe: () => describeStore(options),
    close: () => calls.close(),
  };
}

function describeStore(options: RedisStoreOptions): StoreDescription {
  return { module: new URL('./open-store.js', import.meta.url).href, options: { ...options }, transfer: [] };
}
