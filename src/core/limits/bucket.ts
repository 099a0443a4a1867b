/**
 * Rates and pauses of named throttles. A throttle with a rate has a bucket (rate.ts) for each key of its jobs. A bucket
 * can be closed until a time, for all jobs of all queues: by a job that waits until its cost fits, so that cheaper jobs
 * do not overtake it for ever, or by an attempt that asks for a pause. A throttle without a rate can be paused too.
 *
 * A job whose data has no key belongs to the key '', and one whose data has no positive number as cost costs 1.
 */
import type { StoredRecord } from '../ports/records.ts';
import type { Rate } from '../settings/settings.ts';
import { rateAfter, rateNextAt } from './rate.ts';
import { keyIn, numberIn } from './throttle.ts';

/** The settings of a named throttle; one that is not set limits nothing, and has version 0. */
export interface Throttle {
  readonly max: number | null;
  readonly rate: Rate | null;
  /** The data fields that make the key. */
  readonly by: readonly string[];
  /** The data field that has the cost of a job. */
  readonly cost: string | null;
  /** The version of its record: the buckets of another version do not count. */
  readonly version: number;
}

/** The settings in a throttle's record. */
export type ThrottleSettings = Partial<Omit<Throttle, 'version'>>;

export const NO_THROTTLE: Throttle = { max: null, rate: null, by: [], cost: null, version: 0 };

/** Returns the settings in the record of a throttle. */
export function throttleIn(record: Pick<StoredRecord, 'value' | 'version'> | undefined): Throttle {
  if (record === undefined) return NO_THROTTLE;
  return { ...NO_THROTTLE, ...(JSON.parse(record.value) as ThrottleSettings), version: record.version };
}

/** The state of a bucket. One that has none is full and open. */
export interface BucketState {
  /** The state of rate.ts. */
  readonly at: number;
  /** No job starts before. */
  readonly until: number;
  /** When it was written: both times count from here. */
  readonly seen: number;
  readonly version: number;
}

/** A bucket of which a job takes its cost. The address of the key '' is that of the throttle's slots. */
export interface Bucket {
  readonly address: string;
  readonly name: string;
  readonly key: string;
  readonly cost: number;
  readonly throttle: Throttle;
}

/** Returns the bucket of a throttle that a job with this data uses. */
export function bucketOf(name: string, throttle: Throttle, data: string): Bucket {
  const { rate, by, cost } = throttle;
  const key = rate === null || by.length === 0 ? '' : (keyIn(data, by) ?? '');
  const given = rate === null || cost === null ? 1 : (numberIn(data, cost) ?? 1);
  const address = key === '' ? `t:${name}` : `t:${name} ${key}`;
  return { address, name, key, cost: Math.min(given > 0 ? given : 1, rate?.count ?? 1), throttle };
}

/** Returns the name and the key in the address of a bucket. */
export function readBucket(address: string): { readonly name: string; readonly key: string } {
  const end = address.indexOf(' ');
  return end < 0 ? { name: address.slice(2), key: '' } : { name: address.slice(2, end), key: address.slice(end + 1) };
}

/** The address under which the jobs of a queue that wait for a bucket are parked. */
export const bucketPark = (queue: string, address: string): string => `r:${queue}:${address}`;
export const parkedBucket = (park: string): string => park.slice(park.indexOf(':', 2) + 1);

/** Returns the state that counts, in the throttle's present version and after a step back of the clock. */
export function bucketState(state: BucketState | undefined, { version }: Throttle, now: number): BucketState {
  if (state === undefined || state.version !== version) return { at: 0, until: 0, seen: now, version };
  return state;
}

/** Returns the state after the clock went back: its times are counted from now. */
export function rebasedBucket(state: BucketState, now: number): BucketState {
  const ahead = state.seen - now;
  return ahead <= 0 ? state : { ...state, at: state.at - ahead, until: state.until - ahead, seen: now };
}

/** Returns when a job may start, or null if it may start now. */
export function bucketOpensAt({ cost, throttle }: Bucket, state: BucketState, now: number): number | null {
  if (state.until > now) return state.until;
  return throttle.rate === null ? null : rateNextAt(throttle.rate, state.at, { now, cost });
}

/** Returns the state after a job of the bucket was started. */
export function bucketAfter({ cost, throttle }: Bucket, state: BucketState, now: number): BucketState {
  if (throttle.rate === null) return state;
  return { ...state, at: rateAfter(throttle.rate, state.at, { now, cost }), seen: now };
}

/** Returns the state of a bucket that is closed until a time; a later time stays. */
export function closedBucket(state: BucketState, until: number, now: number): BucketState {
  return { ...state, until: Math.max(state.until, until), seen: now };
}
