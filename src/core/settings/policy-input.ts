/** Options that jobs and queues have in common: retries, backoff, limits of one attempt. */

import type { Check, Report } from '../input/check.ts';
import { duration, fraction, integer, listOf, object, oneOf } from '../input/check.ts';
import type { Duration } from '../input/duration.ts';
import { described, schemaOf } from '../input/json-schema.ts';
import type { Backoff, OnDependencyFailed } from '../job/job.ts';
import { DEPENDENCY_RULES } from '../job/job.ts';
import { DEFAULT_BACKOFF } from '../lifecycle/backoff.ts';

export interface BackoffInput {
  kind?: 'fixed' | 'exponential' | 'list';
  delay?: Duration;
  max?: Duration;
  /** Share of the delay that is random, 0 to 1. */
  jitter?: number;
  delays?: readonly Duration[];
}

export interface PolicyInput {
  retries?: number;
  /** A delay, a list of delays, or a rule. */
  backoff?: Duration | readonly Duration[] | BackoffInput;
  maxResends?: number;
  maxRuntime?: Duration;
  maxSilence?: Duration;
  /** If a job it waits for fails, is cancelled or is deleted: stay blocked, fail too, or run anyway. */
  onDependencyFailed?: OnDependencyFailed;
}

export const priority = integer(-1_000_000_000, 1_000_000_000);
export const count = integer(0, 1_000_000_000);
export const dependencyRule = oneOf(...DEPENDENCY_RULES);

const backoffRule = object({
  kind: oneOf('fixed', 'exponential', 'list'),
  delay: duration(),
  max: duration(),
  jitter: fraction,
  delays: listOf(duration(), 100),
});

const delays = listOf(duration(), 100);
export const backoff: Check<Backoff> = described(
  { anyOf: [schemaOf(duration()), schemaOf(delays), schemaOf(backoffRule)] },
  readBackoff,
);

function readBackoff(value: unknown, report: Report, path: string): Backoff {
  if (Array.isArray(value))
    return { ...DEFAULT_BACKOFF, kind: 'list', jitter: 0, delaysMs: delays(value, report, path) };
  if (typeof value !== 'object')
    return { ...DEFAULT_BACKOFF, kind: 'fixed', jitter: 0, delayMs: duration()(value, report, path) };
  const rule = backoffRule(value, report, path) ?? {};
  if (rule.kind === 'list' && (rule.delays ?? []).length === 0)
    report(`${path}.delays`, 'must name at least one delay for kind list');
  return {
    kind: rule.kind ?? (rule.delays === undefined ? DEFAULT_BACKOFF.kind : 'list'),
    delayMs: rule.delay ?? DEFAULT_BACKOFF.delayMs,
    maxMs: rule.max ?? DEFAULT_BACKOFF.maxMs,
    jitter: rule.jitter ?? DEFAULT_BACKOFF.jitter,
    delaysMs: rule.delays ?? [],
  };
}
