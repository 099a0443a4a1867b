/** A job of another system, in the words that ours has for it; and what cannot be said in them. Pure data. */
import type { Failure } from '../core/job/job.ts';

export interface ForeignJob {
  readonly id: string;
  readonly queue: string;
  readonly name: string | null;
  /** JSON text. */
  readonly data: string;
  readonly state: 'waiting' | 'running' | 'done' | 'failed';
  /** Lower first. */
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
}

export interface ForeignStore {
  readonly jobs: readonly ForeignJob[];
  /** Rules that make jobs again and again. */
  readonly recurring: readonly ForeignSchedule[];
  /** Ids of jobs that somebody keeps an eye on. */
  readonly tracked: readonly string[];
  readonly throttles: readonly { readonly name: string; readonly max: number }[];
  /** Settings of the system, for its door here. */
  readonly records: readonly { readonly kind: string; readonly key: string; readonly value: string }[];
  /** What there is and has no place in ours, in words. */
  readonly unmapped: readonly string[];
}

export interface ForeignSchedule {
  readonly name: string;
  readonly queue: string;
  readonly everyMs: number;
  readonly data: string;
  readonly priority: number;
  readonly tags: readonly string[];
  readonly klass: string | null;
}

/** What a reader of foreign keys can do; none of it writes. */
export interface ForeignKeys {
  hash(key: string): Promise<Readonly<Record<string, string>>>;
  list(key: string): Promise<readonly string[]>;
  bytes(key: string): Promise<readonly Uint8Array[]>;
  set(key: string): Promise<readonly string[]>;
  sorted(key: string): Promise<readonly (readonly [string, number])[]>;
  keys(prefix: string): Promise<readonly string[]>;
}

export const PLAIN_JOB: Omit<ForeignJob, 'id' | 'queue' | 'data' | 'state'> = {
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
};

/** Of a system that has jobs and nothing else. */
export const JOBS_ALONE = { recurring: [], tracked: [], throttles: [], records: [] } as const;

/** Seconds as a text, as these systems keep times; null where there is none. */
export function secondsOf(text: string | undefined): number | null {
  const seconds = Number(text);
  return text === undefined || text === '' || !Number.isFinite(seconds) ? null : Math.round(seconds * 1_000);
}

/** The value of a JSON text, or nothing where it is none. */
export function jsonOf(text: string | undefined): unknown {
  try {
    return text === undefined || text === '' ? undefined : (JSON.parse(text) as unknown);
  } catch {
    return undefined;
  }
}

export function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : [];
}
