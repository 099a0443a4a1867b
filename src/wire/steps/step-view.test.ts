import { expect, it } from 'vitest';
import type { Step } from '../../core/job/step.ts';
import { endOfStep, stepProgress, stepView } from './step-view.ts';

const aStep = (step: Partial<Step>) =>
  stepView({
    number: 1,
    kind: 'run',
    name: 'cut',
    status: 'waiting',
    result: null,
    failure: null,
    attempts: 0,
    startedAt: 100,
    endedAt: null,
    until: null,
    ...step,
  });

it.each<[Partial<Step>, string, number | null]>([
  [{ status: 'done', endedAt: 150 }, 'done', 150],
  [{ status: 'failed', endedAt: 150 }, 'failed', 150],
  [{ kind: 'sleep', until: 300 }, 'sleeping', null],
  [{ kind: 'sleep', until: 200 }, 'done', 200],
  [{ kind: 'event' }, 'waiting', null],
  [{ kind: 'event', until: 150 }, 'waiting', null],
  [{ kind: 'event', status: 'arrived', endedAt: 120 }, 'arrived', 120],
  [{ kind: 'event', status: 'failed', endedAt: 120 }, 'timed out', 120],
  [{ kind: 'children' }, 'waiting', null],
])('says how far the step %j is, and when it ended', (step, words, end) => {
  expect(stepProgress(aStep(step), { now: 200, isOver: false })).toBe(words);
  expect(endOfStep(aStep(step), 200)).toBe(end);
});

it('says that the wait of an ended job was cut short', () => {
  const context = { now: 200, isOver: true };
  expect(stepProgress(aStep({ kind: 'event' }), context)).toBe('cut short');
  expect(stepProgress(aStep({ kind: 'sleep', until: 300 }), context)).toBe('cut short');
  expect(stepProgress(aStep({ kind: 'sleep', until: 200 }), context)).toBe('done');
});
