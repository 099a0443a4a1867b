/**
 * The parameters of `new Worqr(…)` in Worqr's own names, and the settings and address that they become.
 */
import { badInput } from '../../core/ports/errors.ts';
import type { SettingsInput } from '../../core/settings/settings-input.ts';
import type { Longhaul } from '../../library/longhaul.ts';

/** The address of the store: a Redis in Worqr's names, or any address of Longhaul's. */
export interface WorqrAddress {
  /** The host of a Redis server. */
  readonly host?: string;
  /** Its port. */
  readonly port?: number;
  /** Its password. */
  readonly password?: string;
  /** A folder, `redis://…`, `http://…` or `memory:` instead of host and port. */
  readonly url?: string;
  /** An open connection instead; the caller closes it. */
  readonly longhaul?: Longhaul;
  /** A Redis client for data, which Worqr accepts. Refused: this compat layer cannot use it. */
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
  /** Seconds; a negative number makes a permanent worker, which only `failWorker` ends. */
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
 * Settings of a queue: the task of a lost worker returns to the front at once, without a limit. An ended task is kept for
 * ten seconds, so that `done` can carry its result.
 */
export const WORQR_QUEUE: SettingsInput = {
  retries: 1_000_000,
  lostCountsAs: 'failure',
  onLost: 'requeue',
  // Workers set leases of their own. The retention must not be shorter than a lease of the queue.
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
