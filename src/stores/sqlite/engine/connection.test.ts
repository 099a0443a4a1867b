/** Files that are no store, or no longer one: each is refused with a reason, and none is touched. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
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

/** Refused with these words, and the folder is left as it was: no log, no clock, no wake file, no ballast. */
async function expectRefused(path: string, words: RegExp, options: { create?: boolean } = {}): Promise<void> {
  const before = contentsOf(dirname(path));
  await expect(openSqliteStore({ path, ...options })).rejects.toMatchObject({
    code: 'store-incompatible',
    message: expect.stringMatching(words) as string,
  });
  expect(contentsOf(dirname(path))).toEqual(before);
}

function contentsOf(folder: string): readonly (readonly [string, string])[] {
  if (!existsSync(folder) || statSync(folder).isFile()) return [];
  return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'base64')]);
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
    await expectRefused(path, /none of Longhaul/);
  });

  it('has a schema that is newer than the code', async () => {
    const path = await aClosedStore();
    alter(path, 'PRAGMA user_version = 99');
    for (const name of ['wake', 'clock', 'ballast']) rmSync(join(dirname(path), name));
    await expectRefused(path, /has schema 99, and this version of Longhaul knows schemas 1 to \d+; use the version/);
  });

  it('has a newer schema that is still in its log', async () => {
    const path = await aClosedStore();
    const db = openDatabase(path, 0);
    db.exec('PRAGMA user_version = 99');
    const refused = openSqliteStore({ path });
    await expect(refused).rejects.toMatchObject({ message: expect.stringContaining('has schema 99') as string });
    db.close();
  });

  it('is told with its reason also to a caller who was busy until the thread of the engine had ended', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, '');
    const refused = openSqliteStore({ path }).catch((error: unknown) => error);
    for (const end = performance.now() + 1_000; performance.now() < end; );
    const message = expect.stringContaining('is empty') as string;
    expect(await refused).toMatchObject({ code: 'store-incompatible', message });
  });

  it('is gone, while its log is there', async () => {
    const path = await aClosedStore();
    writeFileSync(`${path}-wal`, readFileSync(path));
    rmSync(path);
    for (const create of [true, false]) await expectRefused(path, /is gone, but its log/, { create });
  });
});

describe('a place without a store', () => {
  it('is refused where no store may be created, and left as it is', async () => {
    const folder = dirname(await aDatabasePath());
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const create = false;
    await expectRefused(join(folder, 'store.db'), /holds no store \(there is no store\.db\)/, { create });
    await expectRefused(join(folder, 'missing/store.db'), /missing holds no store/, { create });
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });

  it('is a file: the folder is asked for', async () => {
    const file = await aDatabasePath();
    writeFileSync(file, 'mine');
    for (const create of [true, false])
      await expectRefused(join(file, 'store.db'), /is a file: name the folder that holds store\.db/, { create });
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
