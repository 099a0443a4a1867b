/** Jobs and settings of another system in Longhaul's terms, and a list of what has no counterpart. Pure data. */
import type { Failure, JobPolicy } from '../core/job/job.ts';

export interface ForeignJob {
  readonly id: string;
  readonly queue: string;
  readonly name: string | null;
  /** JSON text. */
  readonly data: string;
  readonly state: 'draft' | 'waiting' | 'running' | 'done' | 'failed';
  /** A lower number runs first. */
  readonly priority: number;
  readonly tags: readonly string[];
  readonly retries: number | null;
  readonly createdAt: number | null;
  readonly runAt: number | null;
  readonly endedAt: number | null;
  readonly attempt: number;
  readonly result: string | null;
  readonly failure: Failure | null;
  readonly dependsOn: readonly string[];
  readonly throttles: readonly string[];
  readonly resends: number;
  /** The address that a done job was relayed to. */
  readonly forwardedTo: string | null;
  /** Settings of the job besides retries and throttles. */
  readonly policy: JobPolicy;
}

export interface ForeignStore {
  readonly jobs: readonly ForeignJob[];
  /** Recurring jobs, which become schedules. */
  readonly recurring: readonly ForeignSchedule[];
  /** Ids of tracked jobs. */
  readonly tracked: readonly string[];
  readonly throttles: readonly { readonly name: string; readonly max: number }[];
  /** Settings of the system, for its compat layer. */
  readonly records: readonly { readonly kind: string; readonly key: string; readonly value: string }[];
  /** Messages about data that cannot be imported. */
  readonly unmapped: readonly string[];
}

/** What a system has besides jobs. */
export type ForeignSettings = Pick<ForeignStore, 'tracked' | 'throttles' | 'records'>;

export interface ForeignSchedule {
  readonly name: string;
  readonly queue: string;
  readonly everyMs: number;
  readonly data: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly klass: string | null;
}

/** Read-only access to the keys of another system. */
export interface ForeignKeys {
  hash(key: string): Promise<Readonly<Record<string, string>>>;
  list(key: string): Promise<readonly string[]>;
  bytes(key: string): Promise<readonly Uint8Array[]>;
  set(key: string): Promise<readonly string[]>;
  sorted(key: string): Promise<readonly (readonly [string, number])[]>;
  keys(prefix: string): Promise<readonly string[]>;
}

export const DEFAULT_JOB: Omit<ForeignJob, 'id' | 'queue' | 'data' | 'state'> = {
  name: null,
  priority: 0,
  tags: [],
  retries: null,
  createdAt: null,
  runAt: null,
  endedAt: null,
  attempt: 0,
  result: null,
  failure: null,
  dependsOn: [],
  throttles: [],
  resends: 0,
  forwardedTo: null,
  policy: {},
};

/** For a system that has only jobs. */
export const ONLY_JOBS = { recurring: [], tracked: [], throttles: [], records: [] } as const;

/** Converts seconds as text to epoch milliseconds; null if there are none. */
export function parseSeconds(text: string | undefined): number | null {
  const seconds = Number(text);
  return text === undefined || text === '' || !Number.isFinite(seconds) ? null : Math.round(seconds * 1_000);
}

/** Returns the value of a JSON text; undefined if it is missing or invalid. */
export function parseJson(text: string | undefined): unknown {
  try {
    return text === undefined || text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

export function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
