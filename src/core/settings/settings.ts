/**
 * A queue's settings, used by stores, workers and nodes.
 *
 * Stored as a record of kind `queue` (records.ts) that holds only the values that were set. Missing values come from
 * the global record, then from the defaults. `settingsOf` merges them, so that a better default reaches every queue
 * that did not set its own value.
 */

import type { Backoff, OnDependencyFailed } from '../job/job.ts';
import { DEFAULT_BACKOFF } from '../lifecycle/backoff.ts';
import { DAY_MS } from '../statistics/histogram.ts';
import type { Webhook } from '../webhooks/webhook.ts';

/** Only delete-queue.ts writes `deleted`. */
export const QUEUE_STATES = ['up', 'paused', 'down', 'deleted'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];
export type SettableState = Exclude<QueueState, 'deleted'>;
export type OnLost = 'requeue' | 'fail' | 'hold';

/** Retention limits of one kind: age, count and bytes; null is no limit. What ended first is deleted first. */
export interface Keep {
  readonly ms: number | null;
  readonly count: number | null;
  readonly bytes: number | null;
}

/** Ended jobs by state; and what may be deleted before its job: results, and a node's logs and attachments. */
export const RETAINED = ['done', 'failed', 'cancelled', 'results', 'logs', 'attachments'] as const;
export type Retained = (typeof RETAINED)[number];
export type Retention = Readonly<Record<Retained, Keep>>;

/** No limit of its own: it is deleted with its job. */
export const NO_KEEP_LIMIT: Keep = { ms: null, count: null, bytes: null };

/** Resource limits of one attempt of a script; null is no limit. */
export interface ScriptLimits {
  readonly cpuMs: number | null;
  /** Real memory of all its processes together. */
  readonly memoryBytes: number | null;
  /** Address space of each process. */
  readonly addressSpaceBytes: number | null;
  readonly processes: number | null;
  readonly fileBytes: number | null;
  readonly logBytes: number | null;
}

/** How a queue's executable is run. */
export interface ScriptSettings {
  /** Path of the executable; null if handlers run the jobs. */
  readonly script: string | null;
  /** Arguments put before the script: an argv, never passed to a shell. */
  readonly execPrefix: readonly string[];
  /** `required`: an attempt that ends without reporting completion has failed (RQ's rule). */
  readonly handshake: 'optional' | 'required';
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: 'data' | 'null';
  readonly nice: number;
  /** User, or user:group, to run as; only if the node is root. */
  readonly user: string | null;
  readonly umask: number;
  readonly limits: ScriptLimits;
  readonly stage: 'copy' | 'link';
}

/** The keys of a queue's jobs: which fields of the data form a key, and how many jobs of one key run at once. */
export interface KeySettings {
  /** Paths such as `tenant` or `user.id`. */
  readonly by: readonly string[];
  /** Null: keys take turns, without a limit. */
  readonly limit: number | null;
}

/** Which jobs of a queue are equal: equal waiting jobs are finished together with the one that starts. */
export interface CoalesceSettings {
  /** Paths of fields, as in `keys`. */
  readonly by: readonly string[];
  /** Whether jobs that are scheduled for later are coalesced too; only due ones without it. */
  readonly scheduled?: boolean;
}

/** `count` starts within `ms`. */
export interface Rate {
  readonly count: number;
  readonly ms: number;
}

/** The most bytes of the logs that a store keeps: of one attempt, and of all attempts of a queue. */
export interface StoredLogLimits {
  readonly attempt: number;
  readonly queue: number;
}

/** The settings of a queue in effect: its own, the global ones and the defaults combined. */
export interface QueueSettings extends ScriptSettings {
  /** `up` starts jobs, `paused` accepts but does not start them, `down` refuses them. */
  readonly state: QueueState;
  /** Why the queue is paused or down. */
  readonly note: string | null;
  /** How many of its jobs one node runs at once. */
  readonly concurrency: number;
  /** How many of its jobs run at once, over all workers; null is no limit. */
  readonly maxRunning: number | null;
  /** The fields of the data that make a key, and the limit per key; null for none. */
  readonly keys: KeySettings | null;
  /** The fields of the data that make jobs equal; null for none. */
  readonly coalesce: CoalesceSettings | null;
  /** Named throttles of which each of its jobs needs a slot. */
  readonly throttles: readonly string[];
  /** How many jobs start in a period; null for no limit. */
  readonly rate: Rate | null;
  /** Resources that each of its jobs needs of the worker that runs it: see limits/resources.ts. */
  readonly needs: string;
  /** The priority of jobs without one of their own; lower runs first. */
  readonly priority: number;
  /** The length of a lease: how long a silent worker keeps a job. */
  readonly leaseMs: number;
  /** How often a worker renews its leases. */
  readonly heartbeatMs: number;
  /** How often a failed job is retried. */
  readonly retries: number;
  /** How long a failed job waits before its next attempt. */
  readonly backoff: Backoff;
  /** How often a job may be resent. */
  readonly maxResends: number;
  /** How many crashes make a job fail. */
  readonly maxCrashes: number;
  /** What happens to a job whose worker is lost: requeue, fail, or hold. */
  readonly onLost: OnLost;
  /** qless counts a lost lease as a failure; the default counts it as a crash. */
  readonly lostCountsAs: 'crash' | 'failure';
  /** How long after its end a lease is left before its job is taken from the worker. */
  readonly lostGraceMs: number;
  /** The failure group of a job whose retries are exhausted, in place of the last failure's group. */
  readonly exhaustedGroup: string | null;
  /** What happens to a job when a job it waits for fails, is cancelled or is deleted. */
  readonly onDependencyFailed: OnDependencyFailed;
  /** The longest run time of an attempt; null for no limit. */
  readonly maxRuntimeMs: number | null;
  /** The longest time without a sign of life; null for no limit. */
  readonly maxSilenceMs: number | null;
  /** How long an attempt may take to stop before it is killed or abandoned. */
  readonly graceMs: number;
  /** Webhooks for its jobs. */
  readonly hooks: readonly Webhook[];
  /** Fields of the data by which jobs can be searched, such as `customer` or `order.id`. */
  readonly search: readonly string[];
  /** How many UTC days of statistics are kept, and how many of them with histograms; today is included. */
  readonly statsDays: number;
  /** How many days of histograms are kept. */
  readonly histogramDays: number;
  /** How long ended jobs, results, logs and attachments are kept, and how many. */
  readonly retention: Retention;
  /** How much of the logs of handlers a store keeps for workers without a data directory. */
  readonly storedLogs: StoredLogLimits;
}

export const DEFAULT_SETTINGS: QueueSettings = {
  state: 'up',
  note: null,
  concurrency: 1,
  script: null,
  execPrefix: [],
  handshake: 'optional',
  env: {},
  stdin: 'data',
  nice: 0,
  user: null,
  umask: 0o077,
  limits: {
    cpuMs: null,
    memoryBytes: null,
    addressSpaceBytes: null,
    processes: null,
    fileBytes: null,
    logBytes: 1024 ** 3,
  },
  stage: 'copy',
  maxRunning: null,
  keys: null,
  coalesce: null,
  throttles: [],
  rate: null,
  needs: '',
  priority: 0,
  leaseMs: 60_000,
  heartbeatMs: 15_000,
  retries: 0,
  backoff: DEFAULT_BACKOFF,
  maxResends: 15,
  maxCrashes: 5,
  onLost: 'requeue',
  lostCountsAs: 'crash',
  lostGraceMs: 0,
  exhaustedGroup: null,
  onDependencyFailed: 'hold',
  maxRuntimeMs: null,
  maxSilenceMs: null,
  graceMs: 10_000,
  hooks: [],
  search: [],
  statsDays: 30,
  histogramDays: 7,
  retention: {
    done: { ms: 7 * DAY_MS, count: 50_000, bytes: null },
    failed: { ms: 30 * DAY_MS, count: null, bytes: null },
    cancelled: { ms: 7 * DAY_MS, count: null, bytes: null },
    results: NO_KEEP_LIMIT,
    logs: NO_KEEP_LIMIT,
    attachments: NO_KEEP_LIMIT,
  },
  storedLogs: { attempt: 1024 ** 2, queue: 64 * 1024 ** 2 },
};

export const DRAFT_TTL_MS = 7 * DAY_MS;
export const WORKER_TTL_MS = DAY_MS;
/**
 * How long the last claims of an unregistered worker are kept, so that a repeated claim gets the same answer. No client
 * repeats a claim that late.
 */
export const UNREGISTERED_WORKER_TTL_MS = 366 * DAY_MS;

/** The record kind of a queue's settings; the key is the queue's name. */
export const QUEUE_RECORD = 'queue';

/** The key of the global record: no queue can have this name. */
export const GLOBAL_SETTINGS_KEY = '*';

export type SetSettings = Partial<QueueSettings>;

/** Merges settings. `own` is the queue's record, `shared` the global one. */
export function settingsOf(own: SetSettings | undefined, shared?: SetSettings): QueueSettings {
  if (own === undefined && shared === undefined) return DEFAULT_SETTINGS;
  const settings = { ...DEFAULT_SETTINGS, ...shared, ...own };
  // By kind: a record has only the kinds that were set, and may be older than some of them.
  const layers = [own?.retention, shared?.retention];
  const limits = own?.limits ?? shared?.limits;
  return {
    ...settings,
    ...(layers.some((each) => each !== undefined) && { retention: retentionOf(layers) }),
    // A record may be older than some limits.
    ...(limits !== undefined && { limits: { ...DEFAULT_SETTINGS.limits, ...limits } }),
  };
}

function retentionOf(layers: readonly (Partial<Retention> | undefined)[]): Retention {
  const kinds = RETAINED.map((kind) => {
    const keep = layers.find((each) => each?.[kind] !== undefined)?.[kind];
    return [kind, { ...NO_KEEP_LIMIT, ...(keep ?? DEFAULT_SETTINGS.retention[kind]) }];
  });
  return Object.fromEntries(kinds) as Retention;
}

/** Returns the settings in a record of this kind. */
export function settingsIn(record: { readonly value: string } | null | undefined): SetSettings | undefined {
  return record === null || record === undefined ? undefined : (JSON.parse(record.value) as SetSettings);
}
