/** Tests the checker on hand-made histories: it must find the problems of the wrong ones. */
import { describe, expect, it } from 'vitest';
import { type HistoryEvent, type HistoryRow, MAX_HISTORY } from '../../src/core/job/history.ts';
import type { JobState } from '../../src/core/job/job.ts';
import { checkHistory, type Evidence, type JobHistory } from './check-history.ts';

type RowSpec = readonly [event: HistoryEvent, state: JobState, attempt?: number, token?: number | null];

function rowsOf(...specs: readonly RowSpec[]): readonly HistoryRow[] {
  return specs.map(([event, state, attempt = 0, token = null], at) => {
    return { at, event, state, attempt, token, by: null, note: null };
  });
}

/** A history whose job agrees with its last row, except for the given fields. */
function aHistory(rows: readonly HistoryRow[], job: Partial<JobHistory['job']> = {}): JobHistory {
  const last = rows.findLast(({ event }) => event !== 'late' && event !== 'changed');
  return { job: { id: 'a', state: last?.state ?? 'waiting', attempt: last?.attempt ?? 0, lease: null, ...job }, rows };
}

const added: RowSpec = ['added', 'waiting'];
const claimed: RowSpec = ['claimed', 'running', 1, 7];
const completed: RowSpec = ['completed', 'done', 1, 7];
const lost: RowSpec = ['lost', 'waiting', 1, 7];
const claimedAgain: RowSpec = ['claimed', 'running', 2, 9];
const plain = rowsOf(added, claimed, completed);

const verdictOf = (evidence: Partial<Evidence>) =>
  checkHistory({ acked: ['a'], histories: [aHistory(plain)], ...evidence });

describe('the history checker accepts', () => {
  it.each<[string, Partial<Evidence>]>([
    ['a done job', {}],
    ['a job that was not claimed', { histories: [aHistory(rowsOf(added))] }],
    ['a running job', { histories: [aHistory(rowsOf(added, claimed))], runs: [] }],
    ['an unanswered add that was made', { acked: [], unanswered: ['a'] }],
    ['an unanswered add that was not', { unanswered: ['b'] }],
    [
      'a lost attempt and an accepted one',
      {
        histories: [
          aHistory(rowsOf(added, claimed, lost, claimedAgain, ['completed', 'done', 2, 9], ['late', 'done', 2, 7])),
        ],
        runs: [
          { id: 'a', token: 7 },
          { id: 'a', token: 9 },
        ],
        accepted: [{ id: 'a', token: 9 }],
      },
    ],
    [
      'a draft, a failure, a requeue and a change',
      {
        histories: [
          aHistory(
            rowsOf(
              ['added', 'draft'],
              ['committed', 'waiting'],
              claimed,
              ['failed', 'failed', 1, 7],
              ['changed', 'failed', 1],
              ['requeued', 'waiting', 1],
              claimedAgain,
              ['cancel-asked', 'running', 2, 9],
              ['cancelled', 'cancelled', 2, 9],
            ),
          ),
        ],
      },
    ],
    [
      'a completion after a requeue of a done job',
      {
        histories: [
          aHistory(
            rowsOf(added, claimed, completed, ['requeued', 'waiting', 1], claimedAgain, ['completed', 'done', 2, 9]),
          ),
        ],
      },
    ],
    ['a history that was trimmed', { histories: [trimmed()] }],
  ])('%s', (_what, evidence) => {
    expect(verdictOf(evidence).problems).toEqual([]);
  });
});

describe('the history checker reports', () => {
  it.each<[string, string, Partial<Evidence>]>([
    ['a lost job', 'I1 lost', { acked: ['a', 'b'] }],
    ['a job that was not added', 'I2 unexpected', { acked: [] }],
    ['a job that is listed twice', 'I2 unexpected', { histories: [aHistory(plain), aHistory(plain)] }],
    ['two completions', 'I3 acceptedTwice', { histories: [aHistory(rowsOf(added, claimed, completed, completed))] }],
    [
      'two workers whose completions were accepted',
      'I3 acceptedTwice',
      {
        accepted: [
          { id: 'a', token: 7 },
          { id: 'a', token: 8 },
        ],
      },
    ],
    [
      'a token that does not grow',
      'I4',
      { histories: [aHistory(rowsOf(added, claimed, lost, ['claimed', 'running', 2, 7]))] },
    ],
    ['a claim without a token', 'I4', { histories: [aHistory(rowsOf(added, ['claimed', 'running', 1, null]))] }],
    [
      'a stale token that was accepted',
      'I5',
      {
        histories: [aHistory(rowsOf(added, claimed, lost, claimedAgain, ['completed', 'done', 2, 7]))],
      },
    ],
    ['an accepted completion that is not in the history', 'I5', { accepted: [{ id: 'a', token: 6 }] }],
    [
      'a lease that is not the newest',
      'I5',
      {
        histories: [
          aHistory(rowsOf(added, claimed), { lease: { token: 6 } as NonNullable<JobHistory['job']['lease']> }),
        ],
      },
    ],
    ['a done job that no handler started', 'I6 doneNeverStarted', { runs: [] }],
    ['a state that differs from its history', 'I14', { histories: [aHistory(plain, { state: 'waiting' })] }],
    ['an attempt that differs from its history', 'I14', { histories: [aHistory(plain, { attempt: 2 })] }],
    ['an illegal transition', 'I14', { histories: [aHistory(rowsOf(added, ['completed', 'done', 0, null]))] }],
    ['a claim of a running job', 'I14', { histories: [aHistory(rowsOf(added, claimed, claimedAgain))] }],
    [
      'a row whose state does not match its event',
      'I14',
      { histories: [aHistory(rowsOf(added, claimed, ['completed', 'failed', 1, 7]))] },
    ],
    ['a job without a history', 'I14', { histories: [aHistory([])] }],
    [
      'a run that is not in the history',
      'I18 unaccounted',
      {
        runs: [
          { id: 'a', token: 7 },
          { id: 'a', token: 8 },
        ],
      },
    ],
    [
      'a run without an end in the history',
      'I18 unaccounted',
      {
        histories: [aHistory(rowsOf(added, claimed))],
        runs: [{ id: 'a', token: 7 }],
      },
    ],
  ])('%s', (_what, name, evidence) => {
    expect(verdictOf(evidence).problems.join('\n')).toContain(name);
  });

  it('counts of reruns, takeovers and fenced settlements', () => {
    const rows = rowsOf(added, claimed, lost, claimedAgain, ['late', 'running', 2, 7]);
    expect(verdictOf({ histories: [aHistory(rows)] })).toMatchObject({
      jobs: 1,
      done: 0,
      left: 1,
      reruns: 1,
      takeovers: 1,
      fencedLate: 1,
    });
    expect(verdictOf({})).toMatchObject({ jobs: 1, done: 1, left: 0, reruns: 0, takeovers: 0, fencedLate: 0 });
  });
});

/** A history with its first row and only the newest of the others. */
function trimmed(): JobHistory {
  const rounds = Array.from({ length: MAX_HISTORY }, (_, round): readonly RowSpec[] => [
    ['claimed', 'running', round + 1, 10 + round],
    ['lost', 'waiting', round + 1, 10 + round],
  ]);
  const all = rowsOf(added, ...rounds.flat());
  return aHistory([...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)]);
}
