/** The options of steps, with their checks. */
import type { AddOptions } from '../../core/input/add-options.ts';
import { checked, duration, integer, object } from '../../core/input/check.ts';
import type { Duration } from '../../core/input/duration.ts';
import type { Backoff, JobState } from '../../core/job/job.ts';
import { eventName } from '../../core/job/names.ts';
import type { BackoffInput } from '../../core/settings/policy-input.ts';
import { backoff } from '../../core/settings/policy-input.ts';

/** Options of a step. */
export interface StepOptions {
  /** How often its function is called again within the attempt when it fails. Default 0: the attempt fails. */
  retries?: number;
  /** The delay before it is called again: a delay, a list of delays, or a rule. Default 1 s. */
  backoff?: Duration | readonly Duration[] | BackoffInput;
  /** How long one call of its function may take. A call that takes longer has failed with `StepTimeout`. */
  timeout?: Duration;
}

/** A job that `children` adds. */
export interface ChildJob {
  /** The queue of the job. */
  readonly queue: string;
  /** Its data. */
  readonly data: unknown;
  /** As for `add`, without an id: that is derived from the step. */
  readonly options?: Omit<AddOptions, 'id' | 'draft'>;
}

/** A job that `children` waited for. */
export interface ChildResult<Result = unknown> {
  /** Its id. */
  readonly id: string;
  /** How it ended; null if it was deleted since. */
  readonly state: JobState | null;
  /** What its handler returned. */
  readonly result: Result | null;
  /** Why it failed. */
  readonly failure: string | null;
}

const DEFAULT_BACKOFF: Backoff = { kind: 'fixed', delayMs: 1_000, maxMs: 3_600_000, jitter: 0, delaysMs: [] };

export interface CheckedStep {
  readonly retries: number;
  readonly backoff: Backoff;
  readonly timeoutMs: number | null;
}

const stepShape = object({ retries: integer(0, 1_000), backoff, timeout: duration(1) });

export function checkStep(name: string, options: StepOptions): CheckedStep {
  checked('step', name, eventName);
  const given = checked(`step ${name}`, options, stepShape);
  return {
    retries: given.retries ?? 0,
    backoff: given.backoff ?? DEFAULT_BACKOFF,
    timeoutMs: given.timeout ?? null,
  };
}

export function checkSleep(time: Duration): number {
  return checked('sleep', { time }, object({ time: duration() })).time ?? 0;
}

/** Returns the timeout, or null for none. */
export function checkWait(name: string, options: { timeout?: Duration }): number | null {
  checked('waitForEvent', name, eventName);
  return checked(`wait for ${name}`, options, object({ timeout: duration() })).timeout ?? null;
}

export function checkName(what: string, name: string): string {
  return checked(what, name, eventName);
}
