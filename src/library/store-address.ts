/** Opens the store of an address. The code of a store is loaded only when an address needs it. */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ClockSource } from '../core/lifecycle/clock.ts';
import { badInput, LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { RedisTls } from '../stores/redis/index.ts';
import { makeFolder } from '../stores/sqlite/make-folder.ts';

export const DEFAULT_ADDRESS = './longhaul';

export interface StoreOptions {
  /** Redis: the prefix of every key; one namespace is one cluster slot. */
  readonly namespace?: string;
  /** SQLite: `full` (default) or `relaxed`. Redis: `local` (default) or `replicated:n`. */
  readonly durability?: string;
  /** The clock that sets the time of calls. Default: the store's. */
  readonly clock?: ClockSource;
  /** False: an address without a store is refused (`store-incompatible`), and nothing is created. Default: true. */
  readonly create?: boolean;
  /** Redis with TLS: paths of PEM files, and the name that the server's certificate must have. */
  readonly tls?: RedisTls;
  /** A node's API: the token of the caller. The node's socket needs none. */
  readonly token?: string;
  /**
   * The data directory of a store without one (Redis, a node's API, memory): for logs, files and the outcome journal.
   * Created if missing. A SQLite store has its own.
   */
  readonly home?: string;
}

export interface OpenedStore {
  readonly store: Store;
  /** The data directory; null for a store without one. */
  readonly home: string | null;
}

export async function openStoreAt(address: string, options: StoreOptions): Promise<OpenedStore> {
  if (SQLITE_SCHEMES.has(schemeOf(address))) return openSqliteAt(address, options);
  const home = options.home === undefined ? null : await createHome(options.home);
  return { store: await openStoreWithoutHome(address, options), home };
}

async function openStoreWithoutHome(address: string, options: StoreOptions): Promise<Store> {
  switch (schemeOf(address)) {
    case 'memory': {
      const { openMemoryStore } = await import('../stores/memory/open-memory-store.ts');
      return openMemoryStore(options.clock === undefined ? {} : { clock: options.clock });
    }
    case 'redis': {
      const { openRedisStore } = await import('../stores/redis/index.ts');
      const { token: _token, home: _home, ...redisOptions } = options;
      return openRedisStore({ url: address.replace(/^valkey/i, 'redis'), ...redisOptions });
    }
    case 'http':
    case 'https':
    case 'unix': {
      const { openHttpStore } = await import('../stores/http/open-http-store.ts');
      const { token, clock } = options;
      return openHttpStore({ address, ...(token && { token }), ...(clock && { clock }) });
    }
    default:
      throw badInput('store address', [
        {
          path: '',
          message: `${address} is none of: a directory, sqlite:directory, redis://host:port, redis+sentinel://host:port/name, redis+cluster://host:port, http://host:port, unix:/path/node.sock, memory:`,
        },
      ]);
  }
}

/** Whether an address is one of Redis or Valkey, in any layout. */
export const isRedisAddress = (address: string): boolean => /^(redis|valkey)s?(\+(sentinel|cluster))?:/i.test(address);

function schemeOf(address: string): string {
  return isRedisAddress(address) ? 'redis' : (/^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? '');
}

const SQLITE_SCHEMES: ReadonlySet<string> = new Set(['', 'sqlite', 'file']);

/** Returns the database file of an address; null for a store without one. */
export function databaseAt(address: string): string | null {
  return SQLITE_SCHEMES.has(schemeOf(address)) ? join(directoryAt(address), 'store.db') : null;
}

function directoryAt(address: string): string {
  const directory = address.replace(/^(sqlite|file):(\/\/(?=\/))?/i, '');
  if (directory === '') throw badInput('store address', [{ path: '', message: 'names no directory' }]);
  return absolute(directory);
}

const absolute = (directory: string): string => resolve(directory.replace(/^~(?=\/|$)/, homedir()));

/** Creates a data directory, so that one that cannot be used is reported by `connect` and not by a job. */
async function createHome(given: string): Promise<string> {
  const home = absolute(given);
  try {
    makeFolder(home);
    await access(home, constants.W_OK | constants.X_OK);
    return home;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = error instanceof LonghaulError ? message : (code ?? message);
    throw badInput('connect options', [
      { path: 'home', message: `must be a directory that this process can write: ${home}: ${reason}` },
    ]);
  }
}

function mustBeOwnHome(given: string | undefined, home: string): void {
  if (given === undefined || absolute(given) === home) return;
  throw badInput('connect options', [
    { path: 'home', message: `must be left out: the data directory of this SQLite store is ${home}, not ${given}` },
  ]);
}

async function openSqliteAt(address: string, options: StoreOptions): Promise<OpenedStore> {
  const home = directoryAt(address);
  mustBeOwnHome(options.home, home);
  const { openSqliteStore } = await import('../stores/sqlite/open-sqlite-store.ts');
  const { clock, durability, create = true } = options;
  const path = join(home, 'store.db');
  return {
    store: await openSqliteStore({
      path,
      create,
      ...(clock && { clock }),
      ...(durability && { durability: sqliteDurability(durability) }),
    }),
    home,
  };
}

function sqliteDurability(durability: string): 'full' | 'relaxed' {
  if (durability === 'full' || durability === 'relaxed') return durability;
  throw badInput('store options', [
    { path: 'durability', message: `must be full or relaxed for SQLite, not ${durability}` },
  ]);
}
