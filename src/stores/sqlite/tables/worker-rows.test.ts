/** Rows of workers do not accumulate. */
import { expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import { UNREGISTERED_WORKER_TTL_MS } from '../../../core/settings/settings.ts';
import { allRows, openDatabase } from '../engine/sqlite-database.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';

removeFoldersAtTheEnd();

const NOW = 1_700_000_000_000;

it('deletes the last claim of an unregistered worker after a year, and of no other', async () => {
  const path = await aDatabasePath();
  const store = await openSqliteStore({ path, clock: 'caller' });
  onTestFinished(() => store.close());
  const { jobs } = store;
  const claim = (worker: string, now: number) =>
    jobs.claim({ worker, queues: ['q'], limit: 1, requestId: 'first' }, { now });
  const beat = { host: 'h', pid: 1, queues: ['q'], leaseMs: 2 * UNREGISTERED_WORKER_TTL_MS, info: '{}' };
  await jobs.add(
    ['a', 'b', 'c'].map((id) => ({ id, queue: 'q', data: '{}' })),
    { now: NOW },
  );
  await jobs.keepWorker({ ...beat, id: 'known', kind: 'register' }, { now: NOW });
  await claim('known', NOW);
  await claim('unregistered', NOW);
  await claim('newcomer', NOW + 1);

  await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS - 1 });
  expect(claimers(path)).toEqual(['known', 'newcomer', 'unregistered']);
  await jobs.maintain({ limit: 100 }, { now: NOW + UNREGISTERED_WORKER_TTL_MS });
  expect(claimers(path)).toEqual(['known', 'newcomer']);
});

function claimers(path: string): readonly string[] {
  const db = openDatabase(path, 1_000);
  try {
    return allRows<readonly [string]>(db.prepare('SELECT worker FROM claims ORDER BY worker')).map(([name]) => name);
  } finally {
    db.close();
  }
}
