/** Every field of a job can be written to its row and read back. */
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import { appendRow, type HistoryRow, MAX_HISTORY } from '../../../core/job/history.ts';
import type { Job } from '../../../core/job/job.ts';
import { created } from '../../../core/lifecycle/lifecycle.ts';
import { DEFAULT_SETTINGS } from '../../../core/settings/settings.ts';
import { openConnection } from '../engine/connection.ts';
import { assignmentsOf, difference } from './job-columns.ts';
import { JobRows } from './job-rows.ts';

removeFoldersAtTheEnd();

const FULL: Job = {
  id: 'a',
  queue: 'mail',
  name: 'Grüße "🚚"',
  data: '{"a":"\\u0000"}',
  state: 'running',
  priority: -2.5,
  tags: ['x', 'y'],
  policy: { retries: 3, backoff: { kind: 'list', delayMs: 1, maxMs: 2, jitter: 0, delaysMs: [1, 2] } },
  unique: { key: 'k', scope: 'store', until: 'period', periodMs: 5 },
  parents: { of: 3, open: 0, bad: 0 },
  dependents: 4,
  createdAt: 1_700_000_000_000,
  seq: 7,
  runAt: 1_700_000_000_001,
  delayMs: 9,
  freedAt: 1_700_000_000_002,
  returnedAt: 1_700_000_000_002,
  turn: 12,
  coalesceKey: 'a|b',
  foldedInto: 'c',
  folded: 3,
  slots: ['t:db'],
  steps: { count: 2, bytes: 20 },
  suspension: { until: null, event: 'go', ranMs: 7 },
  attempt: 4,
  failures: 3,
  resends: 2,
  crashes: 1,
  interruptions: 5,
  lease: {
    token: 11,
    worker: 'w',
    ms: 60_000,
    until: 1_700_000_060_000,
    claimedAt: 1_700_000_000_003,
    startedAt: 1_700_000_000_004,
    pid: 12,
    cancelAskedAt: 1_700_000_000_005,
    pauseAskedAt: 1_700_000_000_006,
  },
  progress: { percent: 40.5, text: 'pass 1', at: 1_700_000_000_007 },
  checkpoint: '{"at":3}',
  result: '[]',
  failure: { group: 'exit 1', message: 'no', detail: null },
  forwardedTo: 'http://there',
  endedAt: 1_700_000_000_008,
};
/** A job as it is added. */
const BARE: Job = created(
  { id: 'b', queue: 'mail', data: '{}' },
  { now: 1_700_000_000_000, seq: 8, settings: DEFAULT_SETTINGS },
).job;
const DRAFT: Job = { ...BARE, id: 'c', seq: 9, state: 'draft', runAt: 1_800_000_000_000 };
const FAILED: Job = { ...FULL, id: 'd', seq: 10, state: 'failed', lease: null };
const JOBS = { FULL, BARE, DRAFT, FAILED };
const PAIRS = Object.entries(JOBS).flatMap(([from, before]) =>
  Object.entries(JOBS).map(([to, after]) => ({ from, to, before, after })),
);
const row = (at: number): HistoryRow => ({
  at,
  event: 'changed',
  state: 'waiting',
  attempt: 1,
  token: null,
  by: 'me',
  note: 'a "note"',
});

async function openRows(): Promise<JobRows> {
  return new JobRows(openConnection({ path: await aDatabasePath(), durability: 'full' }));
}

describe('a job in its row', () => {
  it.each(Object.entries(JOBS))('is read back equal: %s', async (_, job) => {
    const rows = await openRows();
    rows.insert(job, row(1));
    rows.forget();
    expect(rows.get(job.id)).toEqual(job);
  });

  it.each(PAIRS)('is updated to any other job by writing the difference: $from, $to', async ({ before, after }) => {
    const rows = await openRows();
    const { id, seq, createdAt } = before;
    rows.insert(before, row(1));
    rows.update(before, { ...after, id, seq, createdAt }, row(2));
    rows.forget();
    expect(rows.get(id)).toEqual({ ...after, id, seq, createdAt });
    expect(rows.history(id)).toEqual([row(1), row(2)]);
  });

  it('is written only in the columns that differ', () => {
    const { key, values } = difference(FULL, { ...FULL, attempt: 5, failure: null }, null);
    expect(assignmentsOf(key)).toEqual(['attempt = ?', 'rest = ?']);
    expect(values).toEqual([5, expect.not.stringContaining('failure"')]);
  });

  it('puts states and nulls into the statement instead of binding them', () => {
    const before = { ...FULL, foldedInto: null };
    const { key, values } = difference(before, { ...before, state: 'waiting', lease: null }, FULL.runAt);
    expect(assignmentsOf(key)).toEqual(
      expect.arrayContaining(['token = NULL', 'pid = NULL', "state = 'waiting'", 'ready = 1']),
    );
    expect(values).toEqual([]);
  });

  it('has its implied first history row without storing it', async () => {
    const rows = await openRows();
    const { row: birth } = created(
      { id: 'b', queue: 'mail', data: '{}' },
      { now: BARE.createdAt, seq: 8, settings: DEFAULT_SETTINGS },
    );
    rows.insert(BARE, birth);
    expect(rows.history(BARE.id)).toEqual([birth]);
    rows.update(BARE, BARE, row(2));
    expect(rows.history(BARE.id)).toEqual([birth, row(2)]);
  });

  it('keeps the first and the newest rows of its history', async () => {
    const rows = await openRows();
    rows.insert(BARE, row(0));
    let expected: readonly HistoryRow[] = [row(0)];
    for (let at = 1; at < MAX_HISTORY + 20; at++) {
      if (at % 2 === 0) rows.append(BARE, row(at));
      else rows.update(BARE, BARE, row(at));
      expected = appendRow(expected, row(at));
    }
    expect(rows.history(BARE.id)).toEqual(expected);
  });
});
