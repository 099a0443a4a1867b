/**
 * How much one caller may ask, and how many jobs one queue may be given. Both are off unless somebody sets them.
 */
import type { JobStore, NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Who } from '../http/route.ts';
import { Buckets } from './buckets.ts';

export interface RateLimits {
  /** Requests a second of one token; of one address where there is none. Null: no limit. */
  readonly requestsPerSecond: number | null;
  /** Jobs a second that one queue is given through the API. Null: no limit. */
  readonly jobsPerSecond: number | null;
}

export const NO_RATES: RateLimits = { requestsPerSecond: null, jobsPerSecond: null };

/** Throws when who asks has asked too much. The socket is this machine's own, and free. */
export function limitRequests({ requestsPerSecond }: RateLimits, now: () => number): (who: Who) => void {
  if (requestsPerSecond === null) return () => undefined;
  const buckets = new Buckets(requestsPerSecond, now);
  return (who) => {
    if (who.actor === 'socket') return;
    const key = who.token ?? who.from;
    refuseUntil(buckets.waitMs(key), `more than ${requestsPerSecond} requests a second`);
    buckets.take(key, 1);
  };
}

/** The same store, which takes no more jobs for a queue than its rate. Whichever route they come by, they pass here. */
export function limitAdds(store: Store, { jobsPerSecond }: RateLimits, now: () => number): Store {
  if (jobsPerSecond === null) return store;
  const buckets = new Buckets(jobsPerSecond, now);
  const add: JobStore['add'] = async (jobs, options) => {
    const counts = countByQueue(jobs);
    for (const queue of counts.keys())
      refuseUntil(buckets.waitMs(queue), `queue ${queue} takes ${jobsPerSecond} jobs a second`);
    for (const [queue, count] of counts) buckets.take(queue, count);
    return store.jobs.add(jobs, options);
  };
  return withInstead(store, { jobs: withInstead(store.jobs, { add }) });
}

function countByQueue(jobs: readonly NewJob[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { queue } of jobs) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return counts;
}

/** An object that does as the other does but for these parts. The other may keep private fields, so it stays `this`. */
function withInstead<T extends object>(other: T, instead: Partial<T>): T {
  return new Proxy(other, {
    get(target, name) {
      if (Object.hasOwn(instead, name)) return Reflect.get(instead, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function refuseUntil(waitMs: number, words: string): void {
  if (waitMs === 0) return;
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
  throw refuseRequest('too-many-requests', words, { headers: { 'retry-after': String(seconds) } });
}
