/** Which store an address means, and opening it. Heavy stores are loaded only when somebody asks for them. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ClockSource } from '../core/lifecycle/clock.ts';
import { badInput } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import type { RedisTls } from '../stores/redis/index.ts';

export const DEFAULT_ADDRESS = './longhaul';

export interface StoreOptions {
  /** Redis: the prefix of every key; one namespace is one cluster slot. */
  readonly namespace?: string;
  /** SQLite: `full` (default) or `relaxed`. Redis: `local` (default) or `replicated:n`. */
  readonly durability?: string;
  readonly clock?: ClockSource;
  /** False: an address that holds no store is refused (`store-incompatible`) and nothing is created. Default: true. */
  readonly create?: boolean;
  /** Redis with TLS: paths of PEM files, and the name that the certificate must have. */
  readonly tls?: RedisTls;
  /** A node's API: the token by which it knows you. Its socket needs none. */
  readonly token?: string;
}

export interface OpenedStore {
  readonly store: Store;
  /** The folder that belongs to this store on this machine, where there is one. */
  readonly home: string | null;
}

export async function openStoreAt(address: string, options: StoreOptions): Promise<OpenedStore> {
  switch (schemeOf(address)) {
    case 'memory': {
      const { openMemoryStore } = await import('../stores/memory/open-memory-store.ts');
      return { store: openMemoryStore(options.clock === undefined ? {} : { clock: options.clock }), home: null };
    }
    case 'redis': {
      const { openRedisStore } = await import('../stores/redis/index.ts');
      const { token: _token, ...ofRedis } = options;
      return { store: await openRedisStore({ url: address.replace(/^valkey/i, 'redis'), ...ofRedis }), home: null };
    }
    case 'http':
    case 'https':
    case 'unix': {
      const { openHttpStore } = await import('../stores/http/open-http-store.ts');
      const { token, clock } = options;
      return { store: await openHttpStore({ address, ...(token && { token }), ...(clock && { clock }) }), home: null };
    }
    case '':
    case 'sqlite':
    case 'file':
      return openSqliteAt(address, options);
    default:
      throw badInput('store address', [
        {
          path: '',
          message: `${address} is none of: a folder, sqlite:folder, redis://host:port, redis+sentinel://host:port/name, redis+cluster://host:port, http://host:port, unix:/path/node.sock, memory:`,
        },
      ]);
  }
}

/** Whether an address is of Redis or Valkey, in whichever layout. */
export const isRedisAddress = (address: string): boolean => /^(redis|valkey)s?(\+(sentinel|cluster))?:/i.test(address);

function schemeOf(address: string): string {
  return isRedisAddress(address) ? 'redis' : (/^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? '');
}

const SQLITE_SCHEMES: ReadonlySet<string> = new Set(['', 'sqlite', 'file']);

/** The database file that an address means; null for a store without one. */
export function databaseAt(address: string): string | null {
  return SQLITE_SCHEMES.has(schemeOf(address)) ? join(folderAt(address), 'store.db') : null;
}

function folderAt(address: string): string {
  const folder = address.replace(/^(sqlite|file):(\/\/(?=\/))?/i, '');
  if (folder === '') throw badInput('store address', [{ path: '', message: 'names no folder' }]);
  return resolve(folder.replace(/^~(?=\/|$)/, homedir()));
}

async function openSqliteAt(address: string, options: StoreOptions): Promise<OpenedStore> {
  const home = folderAt(address);
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
