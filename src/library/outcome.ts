/**
 * The outcomes that a handler may return instead of a result.
 *
 *     return retry({ in: '10m', reason: 'the mirror is not ready' });
 */

import { checked, duration, listOf, object, text } from '../core/input/check.ts';
import type { Duration } from '../core/input/duration.ts';
import { jobId, queueName } from '../core/job/names.ts';
import { MAX_PARENTS } from '../core/lifecycle/dependencies.ts';
import { throttleName } from '../core/settings/limit-input.ts';

/** Registered: the module of an isolated handler may load its own copy of this file. */
const OUTCOME: unique symbol = Symbol.for('longhaul.outcome');

export type HandlerOutcome =
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
  | { readonly kind: 'retry'; readonly reason: string; readonly delayMs: number; readonly throttle?: string }
  | { readonly kind: 'release'; readonly reason: string }
  | { readonly kind: 'forward'; readonly address: string };

export interface Outcome {
  readonly [OUTCOME]: HandlerOutcome;
}

export function outcomeIn(value: unknown): HandlerOutcome | null {
  return typeof value === 'object' && value !== null && OUTCOME in value ? (value as Outcome)[OUTCOME] : null;
}

const reasonText = text({ max: 4_096 });

const advanceShape = object({ queue: queueName, delay: duration(), dependsOn: listOf(jobId, MAX_PARENTS) });

/** Completes this stage and moves the job to another queue, with fresh counters. It may wait for other jobs there. */
export function advance(to: { queue: string; delay?: Duration; dependsOn?: readonly string[] }): Outcome {
  const { queue = '', delay = 0, dependsOn } = checked('advance', to, advanceShape);
  const next = { queue, delayMs: delay, ...(dependsOn !== undefined && { dependsOn }) };
  return { [OUTCOME]: { kind: 'complete', result: undefined, next } };
}

/** Fails the attempt. With `final`, the job is not retried. */
export function fail(message: string, options: { group?: string; final?: boolean } = {}): Outcome {
  return { [OUTCOME]: { kind: 'fail', message, group: options.group ?? null, isFinal: options.final ?? false } };
}

const retryShape = object({ in: duration(), reason: reasonText, throttle: throttleName });

/**
 * Retries the job after a delay, if a retry is left. Counts as a failure. With `throttle`, no job of that throttle starts
 * until then, on any worker; if the throttle has a rate by key, no job with the key of this job.
 */
export function retry(options: { in: Duration; reason?: string; throttle?: string }): Outcome {
  const { in: delayMs = 0, reason = 'asked for another try', throttle } = checked('retry', options, retryShape);
  return { [OUTCOME]: { kind: 'retry', reason, delayMs, ...(throttle !== undefined && { throttle }) } };
}

/** Returns the job to the front of its queue. Counts as an interruption, not as a failure. */
export function release(reason = 'released by its handler'): Outcome {
  return { [OUTCOME]: { kind: 'release', reason: checked('release', reason, reasonText) } };
}

/** Completes the job as handed over to another address. */
export function forward(address: string): Outcome {
  return { [OUTCOME]: { kind: 'forward', address: checked('forward', address, text({ max: 2_048 })) } };
}
