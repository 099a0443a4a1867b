import { describe, expect, it } from 'vitest';
import type { HistoryEvent, HistoryRow } from '../../../src/core/job/history.ts';
import type { JobState } from '../../../src/core/job/job.ts';
import { segmentsOf } from './timeline-segments.ts';

const row = (at: number, event: HistoryEvent, state: JobState, note: string | null = null): HistoryRow => ({
  at,
  event,
  state,
  attempt: event === 'added' ? 0 : 1,
  token: null,
  by: null,
  note,
});
const BEGIN = [row(0, 'added', 'waiting'), row(10, 'claimed', 'running')];
const shown = (history: readonly HistoryRow[], until: number, wakeTimes: readonly number[] = []) =>
  segmentsOf(history, until, wakeTimes).map(({ from, to, state, wait, end }) => [from, to, wait ?? state, end]);

describe('the timeline of a suspended job', () => {
  it('has sleeps and waits for events apart from work and from waiting for a worker', () => {
    const history = [
      ...BEGIN,
      row(20, 'suspended', 'waiting', 'sleeping'),
      row(70, 'resumed', 'running'),
      row(80, 'suspended', 'waiting', 'waiting for approval'),
      row(95, 'notified', 'waiting', 'approval'),
      row(99, 'resumed', 'running'),
      row(120, 'completed', 'done'),
    ];
    expect(shown(history, 120, [60])).toEqual([
      [0, 10, 'waiting', 'claimed'],
      [10, 20, 'running', 'suspended'],
      [20, 60, 'sleeping', 'over'],
      [60, 70, 'waiting', 'resumed'],
      [70, 80, 'running', 'suspended'],
      [80, 95, 'waiting for approval', 'notified'],
      [95, 99, 'waiting', 'resumed'],
      [99, 120, 'running', 'completed'],
    ]);
  });

  it('does not end a segment by an event that the job does not wait for, nor a wait by a move', () => {
    const history = [
      row(0, 'added', 'waiting'),
      row(5, 'notified', 'waiting', 'early'),
      row(10, 'claimed', 'running'),
      row(15, 'notified', 'running', 'other'),
      row(20, 'suspended', 'waiting', 'waiting for approval'),
      row(25, 'notified', 'waiting', 'other'),
      row(30, 'moved', 'waiting', 'elsewhere'),
    ];
    expect(shown(history, 50, [12, 90])).toEqual([
      [0, 10, 'waiting', 'claimed'],
      [10, 20, 'running', 'suspended'],
      [20, 30, 'waiting for approval', 'moved'],
      [30, 50, 'waiting for approval', null],
    ]);
  });
});
