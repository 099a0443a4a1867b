/**
 * What `new Worqr(…)` is given, in Worqr's own names, and what that means here. Nothing is opened in this file.
 */
import { badInput } from '../../core/ports/errors.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import type { Longhaul } from '../../library/longhaul.ts';

/** Where the tasks are: as Worqr names a Redis, or any address of Longhaul's. */
export interface WorqrAddress {
  /** The host of a Redis server. */
  readonly host?: string;
  /** Its port. */
  readonly port?: number;
  /** Its password. */
  readonly password?: string;
  /** A folder, `redis://…`, `http://…` or `memory:` instead of host and port. */
  readonly url?: string;
  /** An open connection instead, which stays its owner's to close. */
  readonly longhaul?: Longhaul;
  /** Ready-made Redis clients, which Worqr took and this door cannot use. */
  readonly data?: unknown;
  /** A Redis client for subscriptions; refused like `data`. */
  readonly subscribe?: unknown;
}

/** Worqr's options. */
export interface WorqrOptions {
  /** The namespace of the store. Default `worqr`. */
  readonly redisKeyPrefix?: string;
  /** The id of this worker. Default: a random one. */
  readonly workerId?: string;
  /** Milliseconds between heartbeats. */
  readonly workerHeartbeatInterval?: number;
  /** Seconds; a negative number makes a permanent worker, which nobody but `failWorker` ends. */
  readonly workerTimeout?: number;
  /** Milliseconds between checks for lost workers. */
  readonly workerCleanupInterval?: number;
  /** Whether `debug` events are emitted. */
  readonly debugMode?: boolean;
  /** Milliseconds between `debug` events. */
  readonly debugInterval?: number;
}

export const WORQR_DEFAULTS = {
  redisKeyPrefix: 'worqr',
  workerHeartbeatInterval: 1_000,
  workerTimeout: 3,
  workerCleanupInterval: 10_000,
  debugMode: false,
  debugInterval: 1_000,
};

const PERMANENT_MS = 365 * 86_400_000;

/**
 * A task comes back to the front as often as its workers are lost, at once, and nothing is kept of it once it is
 * finished but the moment in which `done` is told.
 */
export const WORQR_QUEUE: SettingsInput = {
  retries: 1_000_000,
  lostCountsAs: 'failure',
  onLost: 'requeue',
  // Workers name their own; nothing may be forgotten sooner than a lease of the queue would end.
  lease: '10s',
  heartbeat: '1s',
  retention: { done: { for: '10s' }, failed: { for: '10s' }, cancelled: { for: '10s' } },
};

export const leaseMsOf = ({ workerTimeout }: { workerTimeout: number }): number =>
  workerTimeout < 0 ? PERMANENT_MS : workerTimeout * 1_000;

export function addressOf(given: WorqrAddress): string {
  if (given.data !== undefined || given.subscribe !== undefined)
    throw badInput('Worqr', [
      { path: 'data', message: 'ready-made Redis clients cannot be used: give host, port and password, or url' },
    ]);
  if (given.url !== undefined) return given.url;
  const { host = 'localhost', port = 6_379, password } = given;
  const access = password === undefined ? '' : `:${encodeURIComponent(password)}@`;
  return `redis://${access}${host}:${port}`;
}
