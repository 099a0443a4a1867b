/** The checker is tried on hand-made histories first: a checker that finds nothing wrong anywhere would be worth nothing. */
import { describe, expect, it } from 'vitest';
import { type HistoryEvent, type HistoryRow, MAX_HISTORY } from '../../src/core/job/history.ts';
import type { JobState } from '../../src/core/job/job.ts';
import { checkHistory, type Evidence, type JobStory } from './check-history.ts';

type Told = readonly [event: HistoryEvent, state: JobState, attempt?: number, token?: number | null];

function rowsOf(...told: readonly Told[]): readonly HistoryRow[] {
  return told.map(([event, state, attempt = 0, token = null], at) => {
    return { at, event, state, attempt, token, by: null, note: null };
  });
}

/** A story whose job is what the last of its rows says, unless something else is said. */
function aStory(rows: readonly HistoryRow[], job: Partial<JobStory['job']> = {}): JobStory {
  const last = rows.findLast(({ event }) => event !== 'late' && event !== 'changed');
  return { job: { id: 'a', state: last?.state ?? 'waiting', attempt: last?.attempt ?? 0, lease: null, ...job }, rows };
}

const added: Told = ['added', 'waiting'];
const claimed: Told = ['claimed', 'running', 1, 7];
const completed: Told = ['completed', 'done', 1, 7];
const lost: Told = ['lost', 'waiting', 1, 7];
const claimedAgain: Told = ['claimed', 'running', 2, 9];
const plain = rowsOf(added, claimed, completed);

const verdictOf = (evidence: Partial<Evidence>) =>
  checkHistory({ acked: ['a'], stories: [aStory(plain)], ...evidence });

describe('the checker of histories lets pass', () => {
  it.each<[string, Partial<Evidence>]>([
    ['a job that was done', {}],
    ['a job that nobody took', { stories: [aStory(rowsOf(added))] }],
    ['a job that runs', { stories: [aStory(rowsOf(added, claimed))], runs: [] }],
    ['an unanswered add that was made', { acked: [], unanswered: ['a'] }],
    ['an unanswered add that was not', { unanswered: ['b'] }],
    [
      'a run that was lost and one that was accepted',
      {
        stories: [
          aStory(rowsOf(added, claimed, lost, claimedAgain, ['completed', 'done', 2, 9], ['late', 'done', 2, 7])),
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
        stories: [
          aStory(
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
        stories: [
          aStory(
            rowsOf(added, claimed, completed, ['requeued', 'waiting', 1], claimedAgain, ['completed', 'done', 2, 9]),
          ),
        ],
      },
    ],
    ['a history that was trimmed', { stories: [trimmed()] }],
  ])('%s', (_what, evidence) => {
    expect(verdictOf(evidence).problems).toEqual([]);
  });
});

describe('the checker of histories finds', () => {
  it.each<[string, string, Partial<Evidence>]>([
    ['a lost job', 'I1 lost', { acked: ['a', 'b'] }],
    ['a job that nobody added', 'I2 unexpected', { acked: [] }],
    ['a job that is listed twice', 'I2 unexpected', { stories: [aStory(plain), aStory(plain)] }],
    ['two completions', 'I3 acceptedTwice', { stories: [aStory(rowsOf(added, claimed, completed, completed))] }],
    [
      'two workers that were told yes',
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
      { stories: [aStory(rowsOf(added, claimed, lost, ['claimed', 'running', 2, 7]))] },
    ],
    ['a claim without a token', 'I4', { stories: [aStory(rowsOf(added, ['claimed', 'running', 1, null]))] }],
    [
      'a stale token that was accepted',
      'I5',
      {
        stories: [aStory(rowsOf(added, claimed, lost, claimedAgain, ['completed', 'done', 2, 7]))],
      },
    ],
    ['a yes that the store does not know of', 'I5', { accepted: [{ id: 'a', token: 6 }] }],
    [
      'a lease that is not the newest',
      'I5',
      {
        stories: [aStory(rowsOf(added, claimed), { lease: { token: 6 } as NonNullable<JobStory['job']['lease']> })],
      },
    ],
    ['a job done that nobody began', 'I6 doneNeverStarted', { runs: [] }],
    ['a state that its history does not give', 'I14', { stories: [aStory(plain, { state: 'waiting' })] }],
    ['an attempt that its history does not give', 'I14', { stories: [aStory(plain, { attempt: 2 })] }],
    ['a step that cannot be', 'I14', { stories: [aStory(rowsOf(added, ['completed', 'done', 0, null]))] }],
    ['a claim of a running job', 'I14', { stories: [aStory(rowsOf(added, claimed, claimedAgain))] }],
    [
      'a row that says another state than its event',
      'I14',
      { stories: [aStory(rowsOf(added, claimed, ['completed', 'failed', 1, 7]))] },
    ],
    ['a job without a history', 'I14', { stories: [aStory([])] }],
    [
      'a run that the store knows nothing of',
      'I18 unaccounted',
      {
        runs: [
          { id: 'a', token: 7 },
          { id: 'a', token: 8 },
        ],
      },
    ],
    [
      'a run whose end nobody wrote down',
      'I18 unaccounted',
      {
        stories: [aStory(rowsOf(added, claimed))],
        runs: [{ id: 'a', token: 7 }],
      },
    ],
  ])('%s', (_what, name, evidence) => {
    expect(verdictOf(evidence).problems.join('\n')).toContain(name);
  });

  it('what must have happened, and counts it', () => {
    const rows = rowsOf(added, claimed, lost, claimedAgain, ['late', 'running', 2, 7]);
    expect(verdictOf({ stories: [aStory(rows)] })).toMatchObject({
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

/** The first row stays; of the others only the newest are left. */
function trimmed(): JobStory {
  const rounds = Array.from({ length: MAX_HISTORY }, (_, round): readonly Told[] => [
    ['claimed', 'running', round + 1, 10 + round],
    ['lost', 'waiting', round + 1, 10 + round],
  ]);
  const all = rowsOf(added, ...rounds.flat());
  return aStory([...all.slice(0, 1), ...all.slice(1 - MAX_HISTORY)]);
}
