/** Every part of a job survives the way into its row and back. */
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../test/contract/open-sqlite.ts';
import { appendRow, type HistoryRow, MAX_HISTORY } from '../../core/history.ts';
import type { Job } from '../../core/job.ts';
import { openConnection } from './connection.ts';
import { columnsOf, difference, UNBORN } from './job-columns.ts';
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
  createdAt: 1_700_000_000_000,
  seq: 7,
  runAt: 1_700_000_000_001,
  delayMs: 9,
  returnedAt: 1_700_000_000_002,
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
const BARE: Job = { ...UNBORN, id: 'b', seq: 8, queue: 'mail' };
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
  return new JobRows(openConnection(await aDatabasePath(), 'full'));
}

describe('a job in its row', () => {
  it.each([FULL, BARE])('is what it was before', async (job) => {
    const rows = await openRows();
    rows.insert(job, row(1));
    rows.forget();
    expect(rows.get(job.id)).toEqual(job);
  });

  it('becomes any other job by what differs', async () => {
    const rows = await openRows();
    rows.insert(FULL, row(1));
    rows.update(FULL, { ...BARE, id: FULL.id, seq: FULL.seq }, row(2));
    rows.forget();
    expect(rows.get(FULL.id)).toEqual({ ...BARE, id: FULL.id, seq: FULL.seq });
    expect(rows.history(FULL.id)).toEqual([row(1), row(2)]);
  });

  it('is written only where it differs', () => {
    const { bits, values } = difference(FULL, { ...FULL, attempt: 5, failure: null });
    expect(columnsOf(bits)).toEqual(['attempt', 'failure', 'failure_group']);
    expect(values).toEqual([5, null, null]);
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
