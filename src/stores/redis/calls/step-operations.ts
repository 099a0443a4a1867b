/** Steps and events over scripts. lua/lib/steps/steps.lua describes how a step is written. */
import type { JobState } from '../../../core/job/job.ts';
import type { Step } from '../../../core/job/step.ts';
import type { Notify, NotifyOutcome, NotifyResult, StepResult, StepWrite } from '../../../core/ports/job-store.ts';
import { bytesOf } from '../../../core/statistics/storage.ts';
import { PART } from '../encoding/layout.ts';
import { field, textField } from '../encoding/request-encoding.ts';
import { readStep, readStepsText } from '../encoding/step-record.ts';
import { refusalIn } from './answers.ts';
import { listOf, type Operation } from './script-runner.ts';

export function stepArguments(writes: readonly StepWrite[]): string[] {
  return writes.flatMap(({ id, token, kind, name, status, result, failure, attempts, ranMs, delayMs }) => [
    id,
    kind +
      field('token', token) +
      field('name', name) +
      field('status', status) +
      field('result', result) +
      textField('failure', failure) +
      field('failureBytes', failure === undefined ? undefined : bytesOf(failure)) +
      field('attempts', attempts) +
      field('ranMs', ranMs) +
      field('delayMs', delayMs),
  ]);
}

export function readStepResult(text: string, { id }: { readonly id: string }): StepResult {
  const refused = refusalIn(text, `job ${id}`);
  if (refused !== undefined) return refused;
  const [now = '', key = '', ...value] = text.split(PART);
  return { ok: true, step: readStep(key, value.join(PART)), now: Number(now) };
}

export function notifyArguments(events: readonly Notify[]): string[] {
  return events.flatMap(({ id, name, data }) => [id, field('name', name) + field('data', data)]);
}

export function readNotified(text: string, { id }: { readonly id: string }): NotifyResult {
  const refused = refusalIn(text, `job ${id}`);
  if (refused !== undefined) return refused;
  const [outcome, state] = text.split(' ');
  return { ok: true, outcome: outcome as NotifyOutcome, state: state as JobState };
}

export const readSteps: Operation<string, readonly Step[]> = async (scripts, id, now) => {
  const answer = listOf(await scripts.run('steps', [id], now));
  return readStepsText(answer);
};
