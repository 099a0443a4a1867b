/**
 * What a handler may return besides its result: a word about how the attempt ended.
 *
 *     return retry({ in: '10m', reason: 'the mirror is not ready' });
 */

import { checked, duration, listOf, object, text } from '../core/input/check.ts';
import type { Duration } from '../core/input/duration.ts';
import { jobId, queueName } from '../core/job/names.ts';
import { MAX_PARENTS } from '../core/lifecycle/dependencies.ts';

const OUTCOME = Symbol('longhaul.outcome');

export type Said =
  | {
      readonly kind: 'complete';
      readonly result: unknown;
      readonly next: {
        readonly queue: string;
        readonly delayMs: number;
        readonly dependsOn?: readonly string[];
      } | null;
    }
  | { readonly kind: 'fail'; readonly message: string; readonly group: string | null; readonly isFinal: boolean }
  | { readonly kind: 'retry'; readonly reason: string; readonly delayMs: number }
  | { readonly kind: 'release'; readonly reason: string }
  | { readonly kind: 'forward'; readonly address: string };

export interface Outcome {
  readonly [OUTCOME]: Said;
}

export function saidBy(value: unknown): Said | null {
  return typeof value === 'object' && value !== null && OUTCOME in value ? (value as Outcome)[OUTCOME] : null;
}

const words = text({ max: 4_096 });

const advanceShape = object({ queue: queueName, delay: duration(), dependsOn: listOf(jobId, MAX_PARENTS) });

/** Done, and on to another queue, where it waits with fresh counters; also for other jobs, by their ids. */
export function advance(to: { queue: string; delay?: Duration; dependsOn?: readonly string[] }): Outcome {
  const { queue = '', delay = 0, dependsOn } = checked('advance', to, advanceShape);
  const next = { queue, delayMs: delay, ...(dependsOn !== undefined && { dependsOn }) };
  return { [OUTCOME]: { kind: 'complete', result: undefined, next } };
}

/** Failed, and `final` for good: no retry is left to it. */
export function fail(message: string, options: { group?: string; final?: boolean } = {}): Outcome {
  return { [OUTCOME]: { kind: 'fail', message, group: options.group ?? null, isFinal: options.final ?? false } };
}

/** Not now: counts as a failure and waits this long, if a retry is left. */
export function retry(options: { in: Duration; reason?: string }): Outcome {
  const given = checked('retry', options, object({ in: duration(), reason: words }));
  return { [OUTCOME]: { kind: 'retry', reason: given.reason ?? 'asked for another try', delayMs: given.in ?? 0 } };
}

/** Given back through no fault of the job: it goes to the front and nothing is counted against it. */
export function release(reason = 'released by its handler'): Outcome {
  return { [OUTCOME]: { kind: 'release', reason: checked('release', reason, words) } };
}

/** Done here, because it was handed to another address. */
export function forward(address: string): Outcome {
  return { [OUTCOME]: { kind: 'forward', address: checked('forward', address, text({ max: 2_048 })) } };
}
