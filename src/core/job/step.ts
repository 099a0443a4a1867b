/**
 * Durable steps: units of work that a job does once, its sleeps, and the events and jobs that it waits for.
 *
 * A store keeps the steps of a job beside its record. Kind and name identify a step. Pure data; the rules are in
 * lifecycle/steps.ts.
 */
export const STEP_KINDS = ['run', 'sleep', 'event', 'children'] as const;
/** `run`: a function of the handler. `sleep`, `event` and `children`: what a suspended job waits for. */
export type StepKind = (typeof STEP_KINDS)[number];

export const STEP_STATUSES = ['waiting', 'arrived', 'done', 'failed'] as const;
/**
 * `waiting`: a wait that has begun. `arrived`: an event that the handler has not read yet. `done`: the result is kept
 * for good. `failed`: of a run, its last try failed and it runs again; of an event, its timeout is over for good.
 */
export type StepStatus = (typeof STEP_STATUSES)[number];

/** A step of a job, as a store keeps it. */
export interface Step {
  /** Its place among the steps of the job, from 1, in the order in which they were first kept. */
  readonly number: number;
  /** What kind of step it is. */
  readonly kind: StepKind;
  /** Its name; a repeated name has a number: `cut`, `cut#2`. */
  readonly name: string;
  /** How far it is. */
  readonly status: StepStatus;
  /** JSON text: what the function returned, or the data of the event. */
  readonly result: string | null;
  /** Why its last try failed. */
  readonly failure: string | null;
  /** How often its function ran, over all attempts of the job. */
  readonly attempts: number;
  /** When it began. */
  readonly startedAt: number;
  /** When it was done, failed or arrived; null before. */
  readonly endedAt: number | null;
  /** The wake time of a sleep, the end of the wait for an event; null for none. */
  readonly until: number | null;
}

/** The number of a job's steps and their bytes, kept in its record. */
export interface StepSums {
  readonly count: number;
  readonly bytes: number;
}

/** What a suspended job waits for. It stays in the record while the resumed attempt runs. */
export interface Suspension {
  /** The wake time, or the end of the wait for an event; null for none. */
  readonly until: number | null;
  /** The name of the event; null for none. */
  readonly event: string | null;
  /** The run time of the attempt so far. */
  readonly ranMs: number;
}

/** The run time of a job that waits for an event without a timeout: the latest time that dates can express. */
export const NEVER = 8_640_000_000_000_000;

/** Sleeps up to this long stay in the worker or script; longer ones suspend the attempt. */
export const MAX_SHORT_SLEEP_MS = 5_000;

export const MAX_STEPS = 1_000;
/** In bytes of UTF-8: name, result and failure of a step, and of all steps of a job together. */
export const MAX_STEP_BYTES = 256 * 1024;
export const MAX_STEPS_BYTES = 4 * 1024 * 1024;
export const MAX_STEP_NAME = 200;

/** Returns the name of the n-th step with the same name. */
export function numberedName(name: string, n: number): string {
  return n === 1 ? name : `${name}#${n}`;
}

/** Returns the name without the number of a repeated name: the one that the handler gave, and `notify` takes. */
export function plainName(name: string): string {
  return name.replace(/#\d+$/, '');
}

/** Returns the wait reason of a suspended job. */
export function suspensionText({ event }: Pick<Suspension, 'event'>): string {
  return event === null ? 'sleeping' : `waiting for ${event}`;
}
