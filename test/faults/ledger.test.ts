/** What is worked out from marks and histories, tried on made-up ones: how copies overlap and how long a recovery took. */
import { describe, expect, it } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Findings } from './fault-environment.ts';
import { type Harm, longestOverlapMs, type Mark, NO_HARM, runsOf } from './ledger.ts';
import { recoveriesOf } from './recovery.ts';
import { openRandom } from './seeded-random.ts';

const mark = (at: number, name: string, of: Partial<Mark> = {}): Mark => {
  return { at, mark: name, pid: 1, id: 'a', token: 1, attempt: 1, ...of };
};
const second = { pid: 2, token: 2, attempt: 2 };
const overlapOf = (marks: readonly Mark[], harm: Harm = NO_HARM) => longestOverlapMs(runsOf(marks), harm);

describe('two copies of a job', () => {
  const first = [mark(0, 'start'), mark(50, 'alive'), mark(100, 'end')];

  it('overlap for as long as both give signs of life', () => {
    expect(overlapOf([...first, mark(70, 'start', second), mark(200, 'end', second)])).toBe(30);
    expect(overlapOf([...first, mark(10, 'start', second), mark(20, 'aborted', second)])).toBe(10);
  });

  it('do not when one ended before the other began, or when they are of different jobs', () => {
    expect(overlapOf([...first, mark(101, 'start', second), mark(200, 'end', second)])).toBe(0);
    expect(
      overlapOf([...first, mark(10, 'start', { ...second, id: 'b' }), mark(90, 'end', { ...second, id: 'b' })]),
    ).toBe(0);
  });

  it('overlap until the kill when the first was killed without a word', () => {
    const marks = [mark(0, 'start'), mark(50, 'alive'), mark(70, 'start', second), mark(200, 'end', second)];
    expect(overlapOf(marks)).toBe(0);
    expect(overlapOf(marks, { ...NO_HARM, killedAt: new Map([[1, 90]]) })).toBe(20);
  });

  it('are left out when the process of one stood still', () => {
    const marks = [...first, mark(70, 'start', second), mark(200, 'end', second)];
    expect(overlapOf(marks, { ...NO_HARM, stopped: new Map([[1, [{ from: 60, to: 90 }]]]) })).toBe(0);
    expect(overlapOf(marks, { ...NO_HARM, stopped: new Map([[1, [{ from: 300, to: 400 }]]]) })).toBe(30);
    expect(overlapOf([mark(0, 'start'), mark(1, 'frozen'), ...first.slice(1), ...marks.slice(3)])).toBe(0);
    // It went on, and was killed before it gave another sign of life.
    const open = [mark(0, 'start'), mark(50, 'alive'), ...marks.slice(3)];
    const stopped = new Map([[1, [{ from: 60, to: 90 }]]]);
    expect(overlapOf(open, { stopped, killedAt: new Map([[1, 150]]) })).toBe(0);
  });
});

describe('a recovery', () => {
  const row = (at: number, event: HistoryRow['event'], attempt: number, by: string | null): HistoryRow => {
    return { at, event, attempt, by, state: 'waiting', token: attempt, note: null };
  };
  const findings = (rows: readonly HistoryRow[], marks: readonly Mark[]): Findings => {
    return { verdict: null, stories: [{ job: { id: 'a' }, rows }], marks, runs: runsOf(marks) } as unknown as Findings;
  };
  const marks = [
    mark(0, 'ready', { worker: 'one' }),
    mark(0, 'ready', { worker: 'two', pid: 2 }),
    mark(10, 'start'),
    mark(1_500, 'start', second),
  ];
  const rows = [
    row(5, 'claimed', 1, 'one'),
    row(1_200, 'added', 0, null),
    row(1_400, 'lost', 1, 'one'),
    row(1_400, 'claimed', 2, 'two'),
  ];
  const killed: Harm = { ...NO_HARM, killedAt: new Map([[1, 600]]) };

  it('is counted from the kill to the next start', () => {
    expect(recoveriesOf(findings(rows, marks), killed, 0)).toEqual({
      all: [{ ms: 900, parts: '800/800/900' }],
      lostAlive: 0,
    });
  });

  it('leaves out a time in which nobody wrote anything, and one in which the taker stood still', () => {
    const quiet = rows.filter(({ event }) => event !== 'added');
    expect(recoveriesOf(findings(quiet, marks), killed, 0).all[0]?.ms).toBe(900 - (1_400 - 5));
    const stopped = new Map([[2, [{ from: 1_410, to: 1_490 }]]]);
    expect(recoveriesOf(findings(rows, marks), { ...killed, stopped }, 0).all[0]?.ms).toBe(800);
  });

  it('is none when nobody was killed: then a living worker lost its lease', () => {
    expect(recoveriesOf(findings(rows, marks), NO_HARM, 0)).toEqual({ all: [], lostAlive: 1 });
  });
});

it('The same seed gives the same dice, all of them within their bounds.', () => {
  const throwsOf = (seed: number) => {
    const random = openRandom(seed);
    return Array.from({ length: 1_000 }, () => random.between(1, 6));
  };
  expect(throwsOf(7)).toEqual(throwsOf(7));
  expect(throwsOf(7)).not.toEqual(throwsOf(8));
  expect(new Set(throwsOf(7))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});
