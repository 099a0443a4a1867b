/** Hand-made evidence for the tests of the checks: two jobs that were added, run and completed. */
import type { HistoryEvent, HistoryRow } from '../../../src/core/job/history.ts';
import type { JobState } from '../../../src/core/job/job.ts';
import type { LedgerEntry } from '../../faults/ledger.ts';
import type { Evidence, InjectedFault, StateCounts, StoredJob } from './evidence.ts';

type RowSpec = readonly [event: HistoryEvent, state: JobState, attempt?: number, token?: number | null];

export function rowsOf(...specs: readonly RowSpec[]): readonly HistoryRow[] {
  return specs.map(([event, state, attempt = 0, token = null], at) => {
    return { at, event, state, attempt, token, by: null, note: null };
  });
}

export const added: RowSpec = ['added', 'waiting'];
export const claimed: RowSpec = ['claimed', 'running', 1, 7];
export const completed: RowSpec = ['completed', 'done', 1, 7];

export function aStoredJob(job: Partial<StoredJob['job']> = {}, rows = rowsOf(added, claimed, completed)): StoredJob {
  const last = rows.findLast(({ event }) => event !== 'late' && event !== 'changed');
  const base = { id: 'a', queue: 'plain', state: last?.state ?? 'waiting', attempt: last?.attempt ?? 0, lease: null };
  return { job: { ...base, result: last?.state === 'done' ? String(last.token) : null, ...job }, rows };
}

/** An entry of process 1 about job `a`. */
export const entry = (at: number, type: string, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  at,
  pid: 1,
  type,
  id: 'a',
  ...more,
});

/** A run of job `a` under a token, with two log lines. */
export function aRun(token: number, from: number, to: number, more: Partial<LedgerEntry> = {}): LedgerEntry[] {
  const of = { token, attempt: 1, ...more };
  return [
    entry(from, 'start', of),
    entry(from, 'line', { ...of, line: 0 }),
    entry(to, 'line', { ...of, line: 1 }),
    entry(to, 'end', of),
  ];
}

export const aFault = (fault: Partial<InjectedFault>): InjectedFault => ({
  kind: 'kill-worker',
  effect: 'kill',
  from: 0,
  to: 0,
  pid: 1,
  detail: '',
  ...fault,
});

export const countsOf = (counts: Partial<StateCounts>): StateCounts => ({
  draft: 0,
  waiting: 0,
  running: 0,
  done: 0,
  failed: 0,
  cancelled: 0,
  ...counts,
});

/** Evidence without a finding, except for the given parts. */
export function someEvidence(parts: Partial<Evidence> = {}): Evidence {
  return {
    entries: [
      entry(1, 'asked', { queue: 'plain' }),
      entry(2, 'acked', { queue: 'plain', outcome: 'added' }),
      ...aRun(7, 10, 20),
      entry(21, 'answered', { token: 7, kind: 'complete', answer: 'ok' }),
    ],
    faults: [],
    jobs: [aStoredJob()],
    counts: new Map([['plain', countsOf({ done: 1 })]]),
    completions: new Map([['plain', 1]]),
    logs: new Map([['a 1', ['line 0', 'line 1']]]),
    processesLeft: [],
    ...parts,
  };
}
