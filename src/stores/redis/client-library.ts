/**
 * The Redis client library, an optional peer: loaded when a Redis store is opened, and only then.
 *
 * A wire is one open way to the server or the cluster. It never sends a command twice and keeps none for later: a
 * popular client that did so added a job twice after one lost reply.
 */
import type * as Redis from '@redis/client';
import { LonghaulError } from '../../core/errors.ts';
import type { RedisSettings } from './options.ts';

export type Library = typeof Redis;

export interface Wire {
  send(args: readonly string[]): Promise<unknown>;
  /** Renewed by itself when the connection was lost. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  destroy(): void;
}

const MAX_PENDING_COMMANDS = 10_000;
/** Somebody who waits for messages only would not notice a black hole by itself. */
const PING_MS = 10_000;
const SILENCE_MS = 30_000;
const RECONNECT_MS = { first: 50, most: 2_000 };

export async function loadLibrary(load: () => Promise<unknown> = () => import('@redis/client')): Promise<Library> {
  try {
    return (await load()) as Library;
  } catch (cause) {
    const words = 'a Redis store needs the package @redis/client: npm install @redis/client';
    throw new LonghaulError('store-incompatible', words, { cause });
  }
}

/** How long to wait before another try to connect, with some jitter so that not all come back at once. */
export function reconnectDelayMs(tries: number): number {
  const most = Math.min(RECONNECT_MS.first * 2 ** Math.min(tries, 10), RECONNECT_MS.most);
  return Math.round(most * (0.75 + Math.random() / 2));
}

function clientOptions({ connectTimeoutMs }: RedisSettings, isOpened: () => boolean) {
  return {
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_PENDING_COMMANDS,
    pingInterval: PING_MS,
    // The deadline is ours (connection.ts): the library's own covers only what was not sent yet.
    commandOptions: { timeout: 0 },
    socket: {
      socketTimeout: SILENCE_MS,
      connectTimeout: connectTimeoutMs,
      // The first connection fails at once, so that whoever opens a store hears why.
      reconnectStrategy: (tries: number) => (isOpened() ? reconnectDelayMs(tries) : false),
    },
  } as const;
}

export async function openNode(library: Library, settings: RedisSettings): Promise<Wire> {
  let isOpened = false;
  const client = library.createClient({ url: settings.url, ...clientOptions(settings, () => isOpened) });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    client.destroy();
    throw error;
  }
  isOpened = true;
  return {
    send: (args) => client.sendCommand(args),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    destroy: () => client.destroy(),
  };
}

/** All keys of a namespace are in one slot, so one key says where a command goes. */
export async function openCluster(library: Library, settings: RedisSettings): Promise<Wire> {
  let isOpened = false;
  const { username, password, protocol } = new URL(settings.url);
  const key = keyPrefix(settings);
  const { commandOptions, ...options } = clientOptions(settings, () => isOpened);
  const cluster = library.createCluster({
    rootNodes: [{ url: settings.url }],
    commandOptions,
    defaults: {
      ...options,
      ...(password === '' ? {} : { password: decodeURIComponent(password) }),
      ...(username === '' ? {} : { username: decodeURIComponent(username) }),
      ...(protocol === 'rediss:' ? { socket: { ...options.socket, tls: true } } : {}),
    },
  });
  cluster.on('error', () => undefined);
  try {
    await cluster.connect();
  } catch (error) {
    cluster.destroy();
    throw error;
  }
  isOpened = true;
  return {
    send: (args) => cluster.sendCommand(key, false, [...args]),
    subscribe: (channel, listener) => cluster.subscribe(channel, listener),
    destroy: () => cluster.destroy(),
  };
}

/** What every key begins with: the hash tag makes a namespace one slot. */
export const keyPrefix = ({ namespace }: Pick<RedisSettings, 'namespace'>): string => `{${namespace}}`;
