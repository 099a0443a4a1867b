/**
 * Rate limits for requests per caller and for added jobs per queue. Both are off by default.
 */
import type { JobStore, NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Principal } from '../http/route.ts';
import { Buckets } from './buckets.ts';

export interface RateLimits {
  /** Requests per second per token, or per address without a token. Null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Jobs per second that the API adds to one queue. Null: no limit. */
  readonly jobsPerSecond: number | null;
}

export const NO_RATES: RateLimits = { requestsPerSecond: null, jobsPerSecond: null };

/** Returns a function that throws when a caller exceeds its rate. Callers through the unix socket have no limit. */
export function limitRequests({ requestsPerSecond }: RateLimits, now: () => number): (caller: Principal) => void {
  if (requestsPerSecond === null) return () => undefined;
  const buckets = new Buckets(requestsPerSecond, now);
  return (caller) => {
    if (caller.actor === 'socket') return;
    const key = caller.token ?? caller.from;
    refuseUntil(buckets.waitMs(key), `the limit is ${requestsPerSecond} requests per second`);
    buckets.take(key, 1);
  };
}

/** Returns the store with a rate limit on `add`. All routes use this store, so that none bypasses the limit. */
export function limitAdds(store: Store, { jobsPerSecond }: RateLimits, now: () => number): Store {
  if (jobsPerSecond === null) return store;
  const buckets = new Buckets(jobsPerSecond, now);
  const add: JobStore['add'] = async (jobs, options) => {
    const counts = countByQueue(jobs);
    for (const queue of counts.keys())
      refuseUntil(buckets.waitMs(queue), `the limit of queue ${queue} is ${jobsPerSecond} jobs per second`);
    for (const [queue, count] of counts) buckets.take(queue, count);
    return store.jobs.add(jobs, options);
  };
  return override(store, { jobs: override(store.jobs, { add }) });
}

function countByQueue(jobs: readonly NewJob[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { queue } of jobs) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return counts;
}

/** Overrides members of an object. The object may have private fields, so it stays `this` of its methods. */
function override<T extends object>(object: T, members: Partial<T>): T {
  return new Proxy(object, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function refuseUntil(waitMs: number, detail: string): void {
  if (waitMs === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  throw refuseRequest('too-many-requests', detail, { headers: { 'retry-after': String(seconds) } });
}
