/** Schema steps, applied to a file that an earlier version wrote. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { firstRow, openDatabase } from './sqlite-database.ts';

removeFoldersAtTheEnd();

/** A file of schema 1 with a waiting job. */
async function aFileOfSchema1(): Promise<string> {
  const path = await aDatabasePath();
  const store = await openSqliteStore({ path });
  await store.jobs.add([{ id: 'old', queue: 'q', data: '{"n":1}' }]);
  await store.close();
  const db = openDatabase(path, 0);
  const added = ['jobs.data_sum', 'jobs.result_sum'];
  added.push('claims.earlier_request', 'claims.earlier_first_token', 'claims.earlier_last_token');
  for (const each of added) db.exec(`ALTER TABLE ${each.replace('.', ' DROP COLUMN ')}`);
  db.exec('DROP TABLE statistics_log');
  for (const table of ['steps', 'buckets', 'wakes']) db.exec(`DROP TABLE ${table}`);
  db.exec('PRAGMA user_version = 1');
  db.close();
  return path;
}

describe('a file of an earlier schema', () => {
  it('is upgraded when it is opened, and its jobs can be claimed', async () => {
    const path = await aFileOfSchema1();
    const store = await openSqliteStore({ path });
    onTestFinished(() => store.close());
    const { jobs } = await store.jobs.claim({ worker: 'w', requestId: 'r', queues: ['q'], limit: 1, leaseMs: 60_000 });
    expect(jobs).toMatchObject([{ id: 'old', data: '{"n":1}', state: 'running' }]);
    const db = openDatabase(path, 0);
    expect(firstRow<readonly [number]>(db.prepare('PRAGMA user_version'))?.[0]).toBe(SCHEMA_VERSION);
    db.close();
  });

  it('gives the next job of the same queue a checksum', async () => {
    const path = await aFileOfSchema1();
    const store = await openSqliteStore({ path });
    await store.jobs.add([{ id: 'new', queue: 'q', data: '{}' }]);
    await store.close();
    const db = openDatabase(path, 0);
    expect(firstRow<readonly [number]>(db.prepare("SELECT count(data_sum) FROM jobs WHERE id = 'new'"))?.[0]).toBe(1);
    expect(firstRow<readonly [number]>(db.prepare("SELECT count(data_sum) FROM jobs WHERE id = 'old'"))?.[0]).toBe(0);
    db.close();
  });
});
