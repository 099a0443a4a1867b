/** Files that are no store, or no longer one: each is refused with a reason, and none is touched. */
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../test/contract/open-sqlite.ts';
import { openSqliteStore } from './open-sqlite-store.ts';
import { openDatabase } from './sqlite-database.ts';

removeFoldersAtTheEnd();

/** A store with a few hundred jobs, closed again. */
async function aClosedStore(): Promise<string> {
  const path = await aDatabasePath();
  const store = await openSqliteStore({ path });
  await store.jobs.add(Array.from({ length: 500 }, (_, each) => ({ id: `job-${each}`, queue: 'mail', data: '"x"' })));
  await store.close();
  return path;
}

async function expectRefused(path: string, words: RegExp): Promise<void> {
  const before = readFileSync(path);
  await expect(openSqliteStore({ path })).rejects.toMatchObject({ code: 'store-incompatible', message: words });
  expect(readFileSync(path).equals(before)).toBe(true);
}

function alter(path: string, sql: string): void {
  const db = openDatabase(path, 0);
  db.exec(sql);
  db.close();
}

describe('a file that is refused', () => {
  it('is no database', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, 'Dear diary, '.repeat(1_000));
    await expectRefused(path, /is no database/);
  });

  it('is empty', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, '');
    await expectRefused(path, /is empty/);
  });

  it('was cut off', async () => {
    const path = await aClosedStore();
    truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096);
    await expectRefused(path, /damaged/);
  });

  it('lost its first page', async () => {
    const path = await aClosedStore();
    writeFileSync(path, Buffer.concat([Buffer.alloc(4096), readFileSync(path).subarray(4096)]));
    await expectRefused(path, /damaged/);
  });

  it("is somebody else's database", async () => {
    const path = await aDatabasePath();
    alter(path, 'CREATE TABLE recipes (name TEXT)');
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store-incompatible',
      message: /none of Longhaul/,
    });
  });

  it('has a schema that is newer than the code', async () => {
    const path = await aClosedStore();
    alter(path, 'PRAGMA user_version = 99');
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store-incompatible',
      message: /has schema 99, and this version of Longhaul knows schemas 2 to 2; use the version/,
    });
  });

  it('is told with its reason also to a caller who was busy until the thread of the engine had ended', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, '');
    const refused = openSqliteStore({ path }).catch((error: unknown) => error);
    for (const end = performance.now() + 1_000; performance.now() < end; );
    expect(await refused).toMatchObject({ code: 'store-incompatible', message: /is empty/ });
  });

  it('is gone, while its log is there', async () => {
    const path = await aClosedStore();
    writeFileSync(`${path}-wal`, readFileSync(path));
    rmSync(path);
    await expect(openSqliteStore({ path })).rejects.toMatchObject({
      code: 'store-incompatible',
      message: /is gone, but its log/,
    });
  });
});

describe('a new store', () => {
  it('is for its owner alone', async () => {
    const path = `${await aDatabasePath()}-home/deep/store.db`;
    const before = process.umask(0);
    const store = await openSqliteStore({ path });
    process.umask(before);
    await store.jobs.add([{ id: 'a', queue: 'mail', data: '{}' }]);
    const folder = dirname(path);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of ['store.db', 'store.db-wal', 'store.db-shm', 'wake', 'clock', 'ballast'])
      expect([name, statSync(`${folder}/${name}`).mode & 0o777]).toEqual([name, 0o600]);
    await store.close();
  });

  it('is made once, however many make it', async () => {
    const path = await aDatabasePath();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openSqliteStore({ path })));
    await Promise.all(stores.map((store, each) => store.jobs.add([{ id: `job-${each}`, queue: 'mail', data: '{}' }])));
    const counts = await Promise.all(stores.map((store) => store.jobs.count()));
    expect(counts.map(([mail]) => mail?.waiting)).toEqual([4, 4, 4, 4]);
    await Promise.all(stores.map((store) => store.close()));
  });
});
