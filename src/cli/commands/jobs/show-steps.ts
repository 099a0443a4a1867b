/** The steps of a job in `longhaul show`, and what a suspended job waits for. */
import { plainName } from '../../../core/job/step.ts';
import type { JobView } from '../../../library/index.ts';
import { age, localIso, span } from '../../../wire/spans.ts';
import type { StepView } from '../../../wire/steps/step-view.ts';
import { endOfStep, stepProgress } from '../../../wire/steps/step-view.ts';
import type { Cell, Column } from '../../output/columns.ts';
import { cell, fit } from '../../output/screen.ts';

const MAX_RESULT = 500;

export function stepColumns(now: number, isOver: boolean): Column<StepView>[] {
  const tookOf = (step: StepView): string => {
    const end = endOfStep(step, now);
    return end === null ? '' : span(end - step.startedAt);
  };
  return [
    { title: 'STEP', isWhole: true, of: ({ name }) => name },
    { title: 'KIND', isWhole: true, of: ({ kind }) => kind },
    { title: 'STATUS', isWhole: true, of: (step) => stepProgress(step, { now, isOver }) },
    { title: 'ATTEMPTS', isWhole: true, of: ({ attempts }) => (attempts === 0 ? '' : String(attempts)) },
    { title: 'STARTED', isWhole: true, of: ({ startedAt }) => localIso(startedAt) },
    { title: 'TOOK', isWhole: true, of: tookOf },
    { title: 'UNTIL', of: ({ until }) => (until === null ? '' : localIso(until)) },
    { title: 'RESULT', of: resultOf },
  ];
}

function resultOf({ result, failure }: StepView): Cell {
  if (failure !== null) return { text: failure, colour: 'red' };
  return { text: result === null ? '' : fit(cell(result), MAX_RESULT) };
}

/** Returns until when a suspended job waits, and the command that sends its event. */
export function waitOf({ id, state, suspension }: JobView, now: number): [string, string | null][] {
  if (state !== 'waiting' || suspension === null) return [];
  const { until, event } = suspension;
  return [
    ['waits until', until === null ? null : `${localIso(until)} (${age(until, now)})`],
    ['send it with', event === null ? null : `longhaul notify ${id} ${shellWord(plainName(event))}`],
  ];
}

function shellWord(name: string): string {
  return /^[\w.:@%+=/-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}
