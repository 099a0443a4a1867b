/** Tests the checks of a chaos run on hand-made evidence: each must find what is wrong, and nothing else. */
import { describe, expect, it } from 'vitest';
import { checkAll } from './check-all.ts';
import type { CheckName, Evidence } from './evidence.ts';
import {
  added,
  aFault,
  aRun,
  aStoredJob,
  claimed,
  completed,
  countsOf,
  entry,
  rowsOf,
  someEvidence,
} from './sample-evidence.ts';

const checksOf = (parts: Partial<Evidence>): readonly CheckName[] => [
  ...new Set(checkAll(someEvidence(parts)).map(({ check }) => check)),
];
const { entries } = someEvidence();
const withEntries = (...more: Evidence['entries']): Evidence['entries'] =>
  [...entries, ...more].sort((a, b) => a.at - b.at);

const lostOnce = rowsOf(
  added,
  claimed,
  ['lost', 'waiting', 1, 7],
  ['claimed', 'running', 2, 9],
  ['completed', 'done', 2, 9],
);
/** The second run of a job whose first one was lost. */
const second = (from: number, to: number) => aRun(9, from, to, { pid: 2, attempt: 2 });
const ranTwice = { jobs: [aStoredJob({}, lostOnce)], logs: new Map() };

/** A run of a worker's process whose token is in no history. */
const undone = [entry(0, 'ready', { pid: 4 }), entry(4, 'start', { pid: 4, token: 5, attempt: 1 })];

/** The first run is aborted for a reason after a blocked loop, when the second has run for a second. */
const blockedUntilAborted = (reason: string): Partial<Evidence> => ({
  ...ranTwice,
  entries: [
    entry(10, 'start', { token: 7, attempt: 1 }),
    ...second(2_000, 3_050),
    entry(3_000, 'aborted', { token: 7, attempt: 1, reason }),
  ].sort((a, b) => a.at - b.at),
  faults: [aFault({ kind: 'block-loop', effect: 'network', from: 20, to: 2_990 })],
});

/** The lease is lost in a blocked loop; Redis restarted at some time of the run. */
const blockedAndRestarted = (from: number, to: number): Partial<Evidence> => {
  const blocked = blockedUntilAborted('lease-lost');
  const restart = aFault({ kind: 'restart-redis', effect: 'store', from, to, pid: null });
  return { ...blocked, faults: [...(blocked.faults ?? []), restart] };
};

/** The first run ends as soon as its loop turns again; during the block a node was frozen. */
const endedAfterBlock = (nodePid?: number): Partial<Evidence> => ({
  ...ranTwice,
  entries: [...aRun(7, 10, 3_000), ...second(2_000, 3_050)].sort((a, b) => a.at - b.at),
  faults: [
    aFault({
      kind: 'block-loop',
      effect: 'network',
      from: 20,
      to: 2_990,
      ...(nodePid === undefined ? {} : { nodePid }),
    }),
    aFault({ kind: 'freeze-node', effect: 'freeze', from: 500, to: 1_900, pid: 5 }),
  ],
});

/** The first of two runs has an entry of this type while the second runs. */
const endedDuringNext = (type: string): Partial<Evidence> => ({
  ...ranTwice,
  entries: [
    entry(10, 'start', { token: 7, attempt: 1 }),
    ...second(3_000, 8_000),
    entry(4_000, type, { token: 7, attempt: 1 }),
  ].sort((a, b) => a.at - b.at),
});

describe('the checks of a chaos run find nothing in', () => {
  it.each<[string, Partial<Evidence>]>([
    ['a job that ran and was completed', {}],
    [
      'a log with zeros after a power cut',
      {
        faults: [aFault({ effect: 'power', from: 36_000, to: 36_010, pid: null })],
        logs: new Map([['a 1', ['\0\0\0\0\0\0', 'line 1']]]),
      },
    ],
    ['two runs at the same time, of which one was blocked without a store', blockedUntilAborted('unreachable')],
    ['two runs at the same time, of which one was blocked while its node was frozen', endedAfterBlock(5)],
    ['two runs at the same time, of which one was blocked while Redis restarted', blockedAndRestarted(10, 1_500)],
    [
      'an id that was new again after a power cut during its first answer',
      {
        entries: withEntries(entry(30, 'acked', { outcome: 'added' })),
        faults: [aFault({ effect: 'power', from: 1, to: 3, pid: null })],
      },
    ],
    [
      'a run whose claim a power cut undid',
      { entries: withEntries(...undone), faults: [aFault({ effect: 'power', from: 5, to: 6, pid: null, pids: [4] })] },
    ],
    [
      'a run that failed, of a process that was killed long after the next run',
      {
        ...ranTwice,
        entries: [
          entry(10, 'start', { token: 7, attempt: 1 }),
          entry(20, 'failed', { token: 7, attempt: 1 }),
          ...second(3_000, 8_000),
        ],
        faults: [aFault({ from: 9_000, to: 9_000 })],
      },
    ],
    ['a run that waited for its store, and was refused during the next run', endedDuringNext('refused')],
    [
      'a step that is repeated because the step of a clock ended the lease',
      {
        ...ranTwice,
        entries: [
          ...aRun(7, 10, 6_000),
          ...second(2_000, 2_600),
          entry(2_500, 'kept', { step: 's1', token: 9, attempt: 2, pid: 2 }),
          entry(2_510, 'step', { step: 's1', token: 7, attempt: 1 }),
        ].sort((a, b) => a.at - b.at),
        faults: [aFault({ effect: 'clock', from: 500, to: 1_990, pid: null })],
      },
    ],
    [
      'a step that a frozen process repeats, while a clock is wrong',
      {
        ...ranTwice,
        entries: [
          ...aRun(7, 10, 6_000),
          ...second(2_000, 5_000),
          entry(2_500, 'kept', { step: 's1', token: 9, attempt: 2, pid: 2 }),
          entry(3_000, 'step', { step: 's1', token: 7, attempt: 1 }),
        ].sort((a, b) => a.at - b.at),
        faults: [
          aFault({ effect: 'freeze', from: 1_000, to: 2_990 }),
          aFault({ effect: 'clock', from: 2_400, to: 2_450, pid: null }),
        ],
      },
    ],
    [
      'a confirmed job of a queue that was deleted later',
      {
        entries: withEntries(
          entry(30, 'acked', { id: 'gone', queue: 'doomed' }),
          entry(40, 'queue-deleted', { queue: 'doomed' }),
        ),
      },
    ],
    [
      'a run that was killed, and its successor',
      {
        ...ranTwice,
        entries: [...aRun(7, 10, 20).slice(0, 2), ...second(1_500, 1_600)],
        faults: [aFault({ from: 30 })],
      },
    ],
    [
      'an overlap with a frozen process',
      {
        ...ranTwice,
        entries: [...aRun(7, 10, 9_000), ...second(3_000, 8_000)].sort((a, b) => a.at - b.at),
        faults: [aFault({ effect: 'freeze', from: 20, to: 6_000 })],
      },
    ],
    [
      'a process that ended because its disk failed',
      {
        entries: withEntries(entry(100, 'exited', { child: 3, error: 'code 1' })),
        faults: [aFault({ effect: 'disk', from: 50, to: 60, pid: null })],
      },
    ],
    [
      'a process that did not start because its store was away',
      {
        entries: withEntries(entry(100, 'exited', { child: 0, error: 'code 1' })),
        faults: [aFault({ effect: 'store', from: 50, to: 60, pid: null })],
      },
    ],
    [
      'a log that lacks lines, and a worker that said so',
      {
        entries: withEntries(
          entry(25, 'trouble', { what: 'the log of job a', error: 'Error: the last 7 bytes of its log are lost' }),
        ),
        logs: new Map([['a 1', ['line 0']]]),
      },
    ],
    ['a log that names its gap', { logs: new Map([['a 1', ['line 0', '[longhaul: the disk was full]']]]) }],
    [
      'a step that ran again because its result was not kept',
      { entries: withEntries(entry(11, 'step', { step: 's1' }), entry(12, 'step', { step: 's1' })) },
    ],
  ])('%s', (_title, parts) => {
    expect(checkAll(someEvidence(parts))).toEqual([]);
  });
});

describe('the checks of a chaos run find', () => {
  it.each<[string, CheckName, Partial<Evidence>]>([
    [
      'a confirmed job that the store does not have',
      'lost',
      { entries: withEntries(entry(3, 'acked', { id: 'b', queue: 'plain' })) },
    ],
    [
      'a job that was confirmed after its queue was deleted, and is gone',
      'lost',
      {
        entries: withEntries(
          entry(40, 'queue-deleted', { queue: 'doomed' }),
          entry(50, 'acked', { id: 'b', queue: 'doomed' }),
        ),
      },
    ],
    [
      'two completions in a history',
      'twice',
      { jobs: [aStoredJob({}, rowsOf(added, claimed, completed, ['completed', 'done', 1, 7]))] },
    ],
    [
      'two workers that were told of a completion',
      'twice',
      { entries: withEntries(entry(30, 'answered', { token: 9, kind: 'complete', answer: 'ok' })) },
    ],
    [
      'a log that lacks lines, and a worker that had another trouble',
      'log lines',
      { entries: withEntries(entry(25, 'trouble', { what: 'maintenance' })), logs: new Map([['a 1', ['line 0']]]) },
    ],
    [
      'a log that a worker gave up',
      'log lines',
      {
        entries: withEntries(
          entry(25, 'trouble', { what: 'the log of job a', error: 'Error: its log cannot be written' }),
        ),
        logs: new Map([['a 1', ['line 0']]]),
      },
    ],
    [
      'a log of a handler that lacks lines after a moment without a disk',
      'log lines',
      {
        entries: withEntries(entry(0, 'ready')),
        faults: [aFault({ effect: 'disk', from: 12, to: 15 })],
        logs: new Map([['a 1', ['line 0']]]),
      },
    ],
    ['an id that was new in two adds', 'twice', { entries: withEntries(entry(30, 'acked', { outcome: 'added' })) }],
    [
      'two runs at the same time',
      'overlap',
      { ...ranTwice, entries: [...aRun(7, 10, 9_000), ...second(3_000, 8_000)].sort((a, b) => a.at - b.at) },
    ],
    ['a lease that was lost in a blocked loop with a store', 'overlap', blockedUntilAborted('lease-lost')],
    ['a lease that was lost in a blocked loop before Redis restarted', 'overlap', blockedAndRestarted(2_995, 3_100)],
    ['a run that failed during the next one', 'overlap', endedDuringNext('failed')],
    [
      'a lease that was lost in a blocked loop while a node that it does not need was frozen',
      'overlap',
      endedAfterBlock(),
    ],
    ['a job that waits at the end', 'stuck', { jobs: [aStoredJob({}, rowsOf(added))] }],
    ['a job that runs at the end', 'stuck', { jobs: [aStoredJob({}, rowsOf(added, claimed))] }],
    ['the result of another run', 'thrown away', { jobs: [aStoredJob({ result: '6' })] }],
    [
      'a run that ended and was never settled',
      'thrown away',
      {
        jobs: [aStoredJob({}, lostOnce)],
        entries: [entry(1, 'ready'), ...aRun(7, 10, 20), ...second(1_000, 1_100)],
        logs: new Map(),
      },
    ],
    ['a state that its history contradicts', 'history', { jobs: [aStoredJob({ state: 'failed' })] }],
    ['a completion without a run', 'history', { entries: entries.filter(({ type }) => type === 'acked') }],
    ['a count that differs from the jobs', 'statistics', { counts: new Map([['plain', countsOf({ done: 2 })]]) }],
    ['a queue that is not counted', 'statistics', { counts: new Map() }],
    ['statistics that lack a completion', 'statistics', { completions: new Map([['plain', 0]]) }],
    [
      'a run without a claim, long before a power cut',
      'history',
      {
        entries: withEntries(...undone),
        faults: [aFault({ effect: 'power', from: 1_500, to: 1_600, pid: null, pids: [4] })],
      },
    ],
    ['a log with a gap', 'log lines', { logs: new Map([['a 1', ['line 1']]]) }],
    ['a log that lacks its last line', 'log lines', { logs: new Map([['a 1', ['line 0']]]) }],
    [
      'a log out of order after a power cut',
      'log lines',
      {
        faults: [aFault({ effect: 'power', from: 30, to: 40, pid: null })],
        logs: new Map([['a 1', ['line 1', 'line 0']]]),
      },
    ],
    ['a process that was left', 'processes', { processesLeft: ['123 node'] }],
    [
      'a process that ended by itself',
      'processes',
      { entries: withEntries(entry(100, 'exited', { child: 3, error: 'code 1' })) },
    ],
    [
      'a process that ended because its store was away',
      'processes',
      {
        entries: withEntries(entry(100, 'exited', { child: 3, error: 'code 1' })),
        faults: [aFault({ effect: 'store', from: 50, to: 60, pid: null })],
      },
    ],
    [
      'a step that ran again after it was kept',
      'steps',
      {
        entries: withEntries(
          entry(11, 'step', { step: 's1' }),
          entry(12, 'kept', { step: 's1' }),
          entry(15, 'step', { step: 's1' }),
        ),
      },
    ],
  ])('%s', (_title, check, parts) => {
    expect(checksOf(parts)).toContain(check);
  });
});

describe('the check of limits', () => {
  const jobs = ['a', 'b'].map((id) => aStoredJob({ id, queue: 'limited' }));
  const runs = (from: number) => [...aRun(7, 1_000, 5_000), ...aRun(7, from, 6_000, { id: 'b' })];
  const limit = (at: number, value: number) => entry(at, 'limit', { queue: 'limited', value, until: at + 10 });
  const findingsOf = (all: Evidence['entries']) =>
    checksOf({ jobs, entries: [...all].sort((a, b) => a.at - b.at) }).filter((check) => check === 'limits');

  it('finds a run too many', () => {
    expect(findingsOf([limit(0, 1), ...runs(2_000)])).toEqual(['limits']);
  });

  it('accepts a run after another, and two under a higher limit', () => {
    expect(findingsOf([limit(0, 1), ...runs(5_100)])).toEqual([]);
    expect(findingsOf([limit(0, 2), ...runs(2_000)])).toEqual([]);
  });

  it('accepts runs that started before the limit was lowered, and finds those that started after it', () => {
    expect(findingsOf([limit(0, 2), limit(3_000, 1), ...runs(2_000)])).toEqual([]);
    expect(findingsOf([limit(0, 2), limit(1_100, 1), ...runs(2_000)])).toEqual(['limits']);
  });
});
