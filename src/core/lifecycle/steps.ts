/**
 * Rules of durable steps: what a write does to a kept step, where an event goes, and how much a job may keep.
 *
 * Pure, like lifecycle.ts; `operations/steps/keep-steps.ts` finds the steps and stores the result.
 * Invariant: a step that is done never changes, nor does a wake time that was once kept.
 */
import type { Job } from '../job/job.ts';
import { isEnded } from '../job/job.ts';
import type { Step, StepSums } from '../job/step.ts';
import { MAX_STEP_BYTES, MAX_STEPS, MAX_STEPS_BYTES } from '../job/step.ts';
import type { StepWrite } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuseState } from '../ports/refusal.ts';
import { bytesOf } from '../statistics/storage.ts';
import type { Transition } from './lifecycle.ts';
import { transition } from './lifecycle.ts';

interface StepContext {
  readonly now: number;
  /** The place of a new step. */
  readonly number: number;
}

/** Returns the step after a write; the same step if the write changes nothing. */
export function keptStep(before: Step | undefined, write: StepWrite, { now, number }: StepContext): Step {
  if (before !== undefined && isFixed(before, write)) return before;
  const { kind, name, status, result = null, failure = null, delayMs } = write;
  return {
    number: before?.number ?? number,
    kind,
    name,
    status,
    result: kind === 'event' && before !== undefined && before.result !== null ? before.result : result,
    failure,
    attempts: write.attempts ?? before?.attempts ?? 0,
    startedAt: before?.startedAt ?? now - (write.ranMs ?? 0),
    endedAt: status === 'waiting' ? null : now,
    until: before === undefined ? (delayMs === undefined ? null : now + delayMs) : before.until,
  };
}

/** A wait is fixed when it began, and an event when it arrived, until the handler has read it. */
function isFixed({ kind, status }: Step, write: StepWrite): boolean {
  if (status === 'done') return true;
  if (kind === 'event' && status !== 'waiting') return status === 'failed' || write.status !== 'done';
  return status === 'waiting' && write.status === 'waiting';
}

/** Returns the step after its event arrived. */
export function arrivedStep(before: Step | undefined, name: string, data: string, context: StepContext): Step {
  const { number = context.number, startedAt = context.now, until = null } = before ?? {};
  const end = { result: data, failure: null, attempts: 0, startedAt, endedAt: context.now, until };
  return { number, kind: 'event', name, status: 'arrived', ...end };
}

/** Records an event in the history. Wakes the job if it is suspended until this event. */
export function notified(job: Job, step: string, now: number): Transition {
  const isAwaited = job.state === 'waiting' && job.suspension?.event === step;
  const next = isAwaited ? { ...job, runAt: Math.min(job.runAt, now) } : job;
  return transition(next, 'notified', now, { note: step });
}

/** Refuses an event for a job that will not read it. */
export function refuseNotify(job: Job): Refused | null {
  return isEnded(job.state) ? refuseState(job, 'notify') : null;
}

export function stepBytes({ name, result, failure }: Pick<Step, 'name' | 'result' | 'failure'>): number {
  return bytesOf(name) + bytesOf(result) + bytesOf(failure);
}

/** Returns the sums of a job's steps after one of them changed. */
export function stepSums(sums: StepSums | null, before: Step | undefined, after: Step): StepSums {
  const { count, bytes } = sums ?? { count: 0, bytes: 0 };
  const more = stepBytes(after) - (before === undefined ? 0 : stepBytes(before));
  return { count: before === undefined ? count + 1 : count, bytes: bytes + more };
}

const PROBLEMS = {
  step: (name: string) =>
    `step ${name} has more than ${MAX_STEP_BYTES / 1024} KB: put large content into an attachment`,
  count: () => `it has ${MAX_STEPS} steps already`,
  bytes: () => `its steps would have more than ${MAX_STEPS_BYTES / 1024 / 1024} MB together`,
};
export type StepProblem = keyof typeof PROBLEMS;

/** Returns which limit the job would exceed with this step, or null. */
export function stepProblem(step: Step, sums: StepSums): StepProblem | null {
  if (stepBytes(step) > MAX_STEP_BYTES) return 'step';
  if (sums.count > MAX_STEPS) return 'count';
  return sums.bytes > MAX_STEPS_BYTES ? 'bytes' : null;
}

export function refuseStep(id: string, problem: StepProblem, name: string): Refused {
  const message = `job ${id} cannot keep the step: ${PROBLEMS[problem](name)}`;
  return { ok: false, refusal: { code: 'step-limit', message } };
}
