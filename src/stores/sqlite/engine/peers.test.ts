/** Several engines on one file: each receives the events of the others, which are written only while others exist. */
import { expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { StoreEvent } from '../../../core/ports/job-store.ts';
import type { Store } from '../../../core/ports/store.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { allRows, openDatabase } from './sqlite-database.ts';

removeFoldersAtTheEnd();

const aJob = (id: string) => ({ id, queue: 'mail', data: '{}' });

function rowsOf(path: string, table: 'events' | 'peers'): number {
  const db = openDatabase(path, 1_000);
  const rows = allRows(db.prepare(`SELECT * FROM ${table}`)).length;
  db.close();
  return rows;
}

function nextEvents(store: Store): Promise<readonly StoreEvent[]> {
  return new Promise((resolve) => {
    const unsubscribe = store.jobs.subscribe((events) => {
      unsubscribe();
      resolve(events);
    });
  });
}

it('delivers the events of one engine to the others, including changes of queue settings', async () => {
  const path = await aDatabasePath();
  const [one, two] = [await openSqliteStore({ path }), await openSqliteStore({ path })];
  const events = nextEvents(two);
  await two.jobs.count();
  await one.jobs.add([aJob('a'), aJob('b')]);
  expect(await events).toMatchObject([
    { type: 'added', id: 'a' },
    { type: 'added', id: 'b' },
  ]);
  const queueEvents = nextEvents(two);
  await one.records.put({ kind: 'queue', key: 'mail', value: '{"state":"down"}' });
  expect(await queueEvents).toEqual([{ type: 'queue', id: '', queue: 'mail', state: null }]);
  expect(await two.jobs.add([aJob('c')])).toMatchObject([{ ok: false, refusal: { code: 'queue-down' } }]);
  await Promise.all([one.close(), two.close()]);
});

it('logs events only while another engine has the file open', async () => {
  const path = await aDatabasePath();
  const one = await openSqliteStore({ path });
  await one.jobs.add([aJob('a')]);
  expect([rowsOf(path, 'events'), rowsOf(path, 'peers')]).toEqual([0, 1]);
  const two = await openSqliteStore({ path });
  await one.jobs.add([aJob('b')]);
  expect([rowsOf(path, 'events'), rowsOf(path, 'peers')]).toEqual([1, 2]);
  await two.close();
  await one.jobs.add([aJob('c')]);
  expect([rowsOf(path, 'events'), rowsOf(path, 'peers')]).toEqual([1, 1]);
  await one.close();
});

it('removes an engine whose process is gone', async () => {
  const path = await aDatabasePath();
  const first = await openSqliteStore({ path });
  await first.close();
  const db = openDatabase(path, 1_000);
  db.exec(`INSERT INTO peers (id, pid, started_at, boot) VALUES ('gone', ${process.pid}, '1', 'another boot')`);
  db.close();
  const second = await openSqliteStore({ path });
  expect(rowsOf(path, 'peers')).toBe(1);
  await second.close();
});
