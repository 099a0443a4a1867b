/** Steps as the scripts keep them: lua/lib/steps/steps.lua describes a field and its value. */
import type { Step, StepKind, StepStatus } from '../../../core/job/step.ts';
import { stepBytes } from '../../../core/lifecycle/steps.ts';
import { numberIn } from './job-record.ts';
import { escapeText, FIELD, PART, unescapeText } from './layout.ts';

export function readStep(key: string, value: string): Step {
  const at = key.indexOf(':');
  const [head = '', failure = '', result = ''] = value.split(PART);
  const [number = '', status, attempts = '', startedAt = '', endedAt = '-', until = '-'] = head.split(' ');
  return {
    number: numberIn(number),
    kind: key.slice(0, at) as StepKind,
    name: key.slice(at + 1),
    status: status as StepStatus,
    result: result === '' ? null : result.slice(1),
    failure: failure === '' ? null : unescapeText(failure.slice(1)),
    attempts: numberIn(attempts),
    startedAt: numberIn(startedAt),
    endedAt: endedAt === '-' ? null : numberIn(endedAt),
    until: until === '-' ? null : numberIn(until),
  };
}

/** Fields and values of steps, for a job of another store. */
export function stepsText(steps: readonly Step[]): string {
  return steps.map((step) => `${step.kind}:${step.name}${FIELD}${valueOf(step)}`).join(FIELD);
}

function valueOf(step: Step): string {
  const { number, status, attempts, startedAt, endedAt, until, failure, result } = step;
  const head = [number, status, attempts, startedAt, endedAt ?? '-', until ?? '-', stepBytes(step)].join(' ');
  const texts = [failure === null ? '' : `+${escapeText(failure)}`, result === null ? '' : `+${result}`];
  return [head, ...texts].join(PART);
}

/** The inverse of `stepsText`, from its parts. */
export function readStepsText(parts: readonly string[]): readonly Step[] {
  const steps: Step[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) steps.push(readStep(parts[at] ?? '', parts[at + 1] ?? ''));
  return steps.sort((a, b) => a.number - b.number);
}
