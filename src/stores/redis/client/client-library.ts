/**
 * The Redis client library, an optional peer: loaded when a Redis store is opened, and only then.
 *
 * A wire is one connection to one server. It never sends a command twice, keeps none for later and is not made again
 * when it is lost: a popular client that did so added a job twice after one lost reply.
 */
import { readFileSync } from 'node:fs';
import type * as Redis from '@redis/client';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Place } from './address.ts';
import type { RedisSettings } from './options.ts';

export type Library = typeof Redis;

export interface Wire {
  readonly place: Place;
  send(args: readonly string[]): Promise<unknown>;
  /** As `send`, for what is no text. */
  sendForBytes(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Calls back once when the connection is lost; never for `destroy`. */
  onLost(listener: () => void): void;
  destroy(): void;
}

/** Who one is to the server, and in which of its databases. */
export interface Login {
  readonly username: string;
  readonly password: string;
  readonly db: number;
}

const MAX_PENDING_COMMANDS = 10_000;
/** Somebody who waits for messages only would not notice a black hole by itself. */
const PING_MS = 10_000;
const SILENCE_MS = 30_000;

export async function loadLibrary(load: () => Promise<unknown> = () => import('@redis/client')): Promise<Library> {
  try {
    return (await load()) as Library;
  } catch (cause) {
    const words = 'a Redis store needs the package @redis/client: npm install @redis/client';
    throw new LonghaulError('store-incompatible', words, { cause });
  }
}

export type OpenWire = (place: Place, login: Login) => Promise<Wire>;

/**
 * Files are read anew for each connection, so that a renewed certificate is taken up. The class of clients is made
 * once: the library's createClient makes one of hundreds of commands for each other place, which kept a process busy
 * that asked all nodes again and again where the primary is.
 */
export function wiresOf(library: Library, settings: RedisSettings): OpenWire {
  const createClient = library.RedisClient.factory();
  return async (place, { username, password, db }) => {
    const client = createClient({
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_PENDING_COMMANDS,
      pingInterval: PING_MS,
      // The deadline is ours (connection.ts): the library's own covers only what was not sent yet.
      commandOptions: { timeout: 0 },
      ...(username !== '' && { username }),
      ...(password !== '' && { password }),
      database: db,
      socket: {
        ...place,
        ...tlsOf(settings, place),
        socketTimeout: SILENCE_MS,
        connectTimeout: settings.connectTimeoutMs,
        // Whoever owns the wire makes another: the primary may be elsewhere by then.
        reconnectStrategy: false,
      },
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      client.destroy();
      throw error;
    }
    return {
      place,
      send: (args) => client.sendCommand(args),
      sendForBytes: (args) => client.sendCommand(args, { typeMapping: { [library.RESP_TYPES.BLOB_STRING]: Buffer } }),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      onLost: (listener) => void client.once('terminated', listener),
      destroy: () => client.destroy(),
    };
  };
}

/** Certificates are always verified: a server that anybody can play would be given every job. */
function tlsOf({ address, tls }: RedisSettings, { host }: Place) {
  if (!address.isTls) return {};
  const { servername = host } = tls;
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
    const path = tls[name];
    return path === undefined ? [] : [[name, readPem(path, name)]];
  });
  return { tls: true as const, ...Object.fromEntries(files), ...(isName(servername) && { servername }) };
}

/** TLS knows no addresses as names. */
const isName = (host: string): boolean => !/^[\d.]+$/.test(host) && !host.includes(':');

function readPem(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new LonghaulError('bad-input', `the file of ${name} cannot be read: ${path}`, { cause });
  }
}

/** What every key begins with: the hash tag makes a namespace one slot. */
export const keyPrefix = ({ namespace }: Pick<RedisSettings, 'namespace'>): string => `{${namespace}}`;
