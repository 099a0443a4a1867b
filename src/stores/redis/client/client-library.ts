/**
 * The Redis client library, an optional peer: loaded when a Redis store is opened, and only then.
 *
 * A client is one connection to one server. It never sends a command twice, queues none while it is offline, and does
 * not reconnect: a client library that did so added a job twice after one lost reply.
 */
import { readFileSync } from 'node:fs';
import type * as Redis from '@redis/client';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Place } from './address.ts';
import type { RedisSettings } from './options.ts';

export type Library = typeof Redis;

export interface Client {
  readonly place: Place;
  send(command: readonly string[]): Promise<unknown>;
  /** The same for an answer that is not text. */
  sendForBytes(command: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Calls back once when the connection is lost; never for `destroy`. */
  onLost(listener: () => void): void;
  destroy(): void;
}

/** The user, and the number of the database. */
export interface Login {
  readonly username: string;
  readonly password: string;
  readonly db: number;
}

const MAX_PENDING_COMMANDS = 10_000;
/** A connection that only receives messages would not notice that its server is unreachable. */
const PING_MS = 10_000;
const SILENCE_MS = 30_000;

export async function loadLibrary(load: () => Promise<unknown> = () => import('@redis/client')): Promise<Library> {
  try {
    return (await load()) as Library;
  } catch (cause) {
    const message = 'a Redis store needs the package @redis/client: npm install @redis/client';
    throw new LonghaulError('store-incompatible', message, { cause });
  }
}

export type OpenClient = (place: Place, login: Login) => Promise<Client>;

/**
 * Returns a function that connects to a server. It reads the files of certificates for each connection, so that a
 * renewed certificate is used. It uses the base class of the library, because a store sends its commands as text:
 * `createClient` creates a class with hundreds of commands each time. That takes 20 MB, and kept a process busy that
 * searched for its primary.
 */
export function clientsOf(library: Library, settings: RedisSettings): OpenClient {
  return async (place, { username, password, db }) => {
    const client = new library.RedisClient({
      disableOfflineQueue: true,
      commandsQueueMaxLength: MAX_PENDING_COMMANDS,
      pingInterval: PING_MS,
      // The deadline is in connection.ts: that of the library covers only commands that were not sent yet.
      commandOptions: { timeout: 0 },
      ...(username !== '' && { username }),
      ...(password !== '' && { password }),
      database: db,
      socket: {
        ...place,
        ...tlsOf(settings, place),
        socketTimeout: SILENCE_MS,
        connectTimeout: settings.connectTimeoutMs,
        // Its owner opens another: the primary may be another server by then.
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
      send: client.sendCommand.bind(client),
      sendForBytes: (command) =>
        client.sendCommand(command, { typeMapping: { [library.RESP_TYPES.BLOB_STRING]: Buffer } }),
      subscribe: (channel, listener) => client.subscribe(channel, listener),
      onLost: (listener) => void client.once('terminated', listener),
      destroy: () => client.destroy(),
    };
  };
}

/** Certificates are always verified: otherwise any server could pose as the store and receive every job. */
function tlsOf({ address, tls }: RedisSettings, { host }: Place) {
  if (!address.isTls) return {};
  const { servername = host } = tls;
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
    const path = tls[name];
    return path === undefined ? [] : [[name, readPem(path, name)]];
  });
  return { tls: true as const, ...Object.fromEntries(files), ...(isName(servername) && { servername }) };
}

/** TLS does not accept an IP address as a server name. */
const isName = (host: string): boolean => !/^[\d.]+$/.test(host) && !host.includes(':');

function readPem(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new LonghaulError('bad-input', `the file of ${name} cannot be read: ${path}`, { cause });
  }
}

/** The prefix of every key: the hash tag keeps a namespace in one slot. */
export const keyPrefix = ({ namespace }: Pick<RedisSettings, 'namespace'>): string => `{${namespace}}`;
