/** A step as the API shows it, and how far it is in words. Pure; shared by the CLI and the web UI. */
import type { Step } from '../../core/job/step.ts';

/** A step with its result parsed. */
export interface StepView extends Omit<Step, 'result'> {
  /** What the function returned, the data of the event, or the results of the jobs; null before. */
  readonly result: unknown;
}

export function stepView(step: Step): StepView {
  return { ...step, result: step.result === null ? null : (JSON.parse(step.result) as unknown) };
}

interface StepContext {
  readonly now: number;
  /** The job has ended, so no wait of it continues. */
  readonly isOver: boolean;
}

/** Returns how far a step is. A sleep is over when its time has come: no store writes that. */
export function stepProgress(step: StepView, { now, isOver }: StepContext): string {
  const { kind, status } = step;
  if (kind === 'event' && status === 'failed') return 'timed out';
  if (status !== 'waiting' || endOfStep(step, now) !== null) return status === 'waiting' ? 'done' : status;
  if (isOver) return 'cut short';
  return kind === 'sleep' ? 'sleeping' : 'waiting';
}

/** Returns when a step ended; null while it waits. */
export function endOfStep({ kind, until, endedAt }: StepView, now: number): number | null {
  return endedAt ?? (kind === 'sleep' && until !== null && until <= now ? until : null);
}
