/** Overlaps of runs and recovery times, computed from hand-made ledgers and histories. */
import { describe, expect, it } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Findings } from './fault-environment.ts';
import { type InjectedFaults, type LedgerEntry, longestOverlapMs, NO_FAULTS, runsOf } from './ledger.ts';
import { recoveriesOf } from './recovery.ts';
import { openRandom } from './seeded-random.ts';

const entry = (at: number, name: string, of: Partial<LedgerEntry> = {}): LedgerEntry => {
  return { at, type: name, pid: 1, id: 'a', token: 1, attempt: 1, ...of };
};
const second = { pid: 2, token: 2, attempt: 2 };
const overlapOf = (entries: readonly LedgerEntry[], faults: InjectedFaults = NO_FAULTS) =>
  longestOverlapMs(runsOf(entries), faults);

describe('two runs of a job', () => {
  const first = [entry(0, 'start'), entry(50, 'alive'), entry(100, 'end')];

  it('overlap while both write ledger entries', () => {
    expect(overlapOf([...first, entry(70, 'start', second), entry(200, 'end', second)])).toBe(30);
    expect(overlapOf([...first, entry(10, 'start', second), entry(20, 'aborted', second)])).toBe(10);
  });

  it('do not overlap when one ended before the other began, or when they are of different jobs', () => {
    expect(overlapOf([...first, entry(101, 'start', second), entry(200, 'end', second)])).toBe(0);
    expect(
      overlapOf([...first, entry(10, 'start', { ...second, id: 'b' }), entry(90, 'end', { ...second, id: 'b' })]),
    ).toBe(0);
  });

  it('overlap until the kill when the first run has no end', () => {
    const entries = [entry(0, 'start'), entry(50, 'alive'), entry(70, 'start', second), entry(200, 'end', second)];
    expect(overlapOf(entries)).toBe(0);
    expect(overlapOf(entries, { ...NO_FAULTS, killedAt: new Map([[1, [90]]]) })).toBe(20);
  });

  it('end with the first kill of their process: a later one is of another process with the same pid', () => {
    const entries = [entry(0, 'start'), entry(50, 'alive'), entry(70, 'start', second), entry(200, 'end', second)];
    expect(overlapOf(entries, { ...NO_FAULTS, killedAt: new Map([[1, [60, 190]]]) })).toBe(0);
    expect(overlapOf(entries, { ...NO_FAULTS, killedAt: new Map([[1, [-900, 90]]]) })).toBe(20);
  });

  it('are ignored when the process of one was stopped', () => {
    const entries = [...first, entry(70, 'start', second), entry(200, 'end', second)];
    expect(overlapOf(entries, { ...NO_FAULTS, stopped: new Map([[1, [{ from: 60, to: 90 }]]]) })).toBe(0);
    expect(overlapOf(entries, { ...NO_FAULTS, stopped: new Map([[1, [{ from: 300, to: 400 }]]]) })).toBe(30);
    expect(overlapOf([entry(0, 'start'), entry(1, 'frozen'), ...first.slice(1), ...entries.slice(3)])).toBe(0);
    // It continued, and was killed before its next entry.
    const open = [entry(0, 'start'), entry(50, 'alive'), ...entries.slice(3)];
    const stopped = new Map([[1, [{ from: 60, to: 90 }]]]);
    expect(overlapOf(open, { stopped, killedAt: new Map([[1, [150]]]) })).toBe(0);
  });
});

describe('a recovery', () => {
  const row = (at: number, event: HistoryRow['event'], attempt: number, by: string | null): HistoryRow => {
    return { at, event, attempt, by, state: 'waiting', token: attempt, note: null };
  };
  const findings = (rows: readonly HistoryRow[], entries: readonly LedgerEntry[]): Findings => {
    return {
      verdict: null,
      histories: [{ job: { id: 'a' }, rows }],
      entries,
      runs: runsOf(entries),
    } as unknown as Findings;
  };
  const entries = [
    entry(0, 'ready', { worker: 'one' }),
    entry(0, 'ready', { worker: 'two', pid: 2 }),
    entry(10, 'start'),
    entry(1_500, 'start', second),
  ];
  const rows = [
    row(5, 'claimed', 1, 'one'),
    ...[300, 700, 1_200].map((at) => row(at, 'added', 0, null)),
    row(1_400, 'lost', 1, 'one'),
    row(1_400, 'claimed', 2, 'two'),
  ];
  const killed: InjectedFaults = { ...NO_FAULTS, killedAt: new Map([[1, [600]]]) };

  it('is counted from the kill to the next start', () => {
    expect(recoveriesOf(findings(rows, entries), killed, 0)).toEqual({
      all: [{ ms: 900, parts: '800/800/900' }],
      lostAlive: 0,
    });
  });

  it('excludes the time until the end of a gap without any write, and the time in which the next worker was stopped', () => {
    const quiet = rows.filter(({ event }) => event !== 'added');
    expect(recoveriesOf(findings(quiet, entries), killed, 0).all[0]?.ms).toBe(1_500 - 1_400);
    const earlier = rows.filter(({ at }) => at !== 700);
    expect(recoveriesOf(findings(earlier, entries), killed, 0).all[0]?.ms).toBe(1_500 - 1_200);
    const stopped = new Map([[2, [{ from: 1_410, to: 1_490 }]]]);
    expect(recoveriesOf(findings(rows, entries), { ...killed, stopped }, 0).all[0]?.ms).toBe(800);
  });

  it('is not counted without a kill: then a live worker lost its lease', () => {
    expect(recoveriesOf(findings(rows, entries), NO_FAULTS, 0)).toEqual({ all: [], lostAlive: 1 });
  });
});

it('The same seed gives the same numbers, all of them within their bounds.', () => {
  const numbersOf = (seed: number) => {
    const random = openRandom(seed);
    return Array.from({ length: 1_000 }, () => random.between(1, 6));
  };
  expect(numbersOf(7)).toEqual(numbersOf(7));
  expect(numbersOf(7)).not.toEqual(numbersOf(8));
  expect(new Set(numbersOf(7))).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});
