/** Files that are not a store, or not any more: opening fails with a reason, and no file changes. */
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { openDatabase } from './sqlite-database.ts';

removeFoldersAtTheEnd();

/** The path of a closed store with a few hundred jobs. */
async function aClosedStore(): Promise<string> {
  const path = await aDatabasePath();
  const store = await openSqliteStore({ path });
  await store.jobs.add(Array.from({ length: 500 }, (_, each) => ({ id: `job-${each}`, queue: 'mail', data: '"x"' })));
  await store.close();
  return path;
}

/** Expects opening to fail with this message, and the folder unchanged: no log, no clock, no wake file, no ballast. */
async function expectRefused(path: string, message: RegExp, options: { create?: boolean } = {}): Promise<void> {
  const before = contentsOf(dirname(path));
  await expect(openSqliteStore({ path, ...options })).rejects.toMatchObject({
    code: 'store-incompatible',
    message: expect.stringMatching(message) as string,
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

describe('opening fails for a file that', () => {
  it('is not a database', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, 'Dear diary, '.repeat(1_000));
    await expectRefused(path, /is not a database/);
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

  it('is the database of another program', async () => {
    const path = await aDatabasePath();
    alter(path, 'CREATE TABLE recipes (name TEXT)');
    await expectRefused(path, /not a Longhaul store/);
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

  it('is empty, with the reason, even if the caller was busy until the engine thread had ended', async () => {
    const path = await aDatabasePath();
    writeFileSync(path, '');
    const refused = openSqliteStore({ path }).catch((error: unknown) => error);
    for (const end = performance.now() + 1_000; performance.now() < end; );
    const message = expect.stringContaining('is empty') as string;
    expect(await refused).toMatchObject({ code: 'store-incompatible', message });
  });

  it('is missing while its log exists', async () => {
    const path = await aClosedStore();
    writeFileSync(`${path}-wal`, readFileSync(path));
    rmSync(path);
    for (const create of [true, false]) await expectRefused(path, /is missing, but its log/, { create });
  });
});

describe('a path without a store', () => {
  it('is rejected where no store may be created, and nothing is written', async () => {
    const folder = dirname(await aDatabasePath());
    writeFileSync(join(folder, 'notes.txt'), 'mine');
    const create = false;
    await expectRefused(join(folder, 'store.db'), /holds no store \(there is no store\.db\)/, { create });
    await expectRefused(join(folder, 'missing/store.db'), /missing holds no store/, { create });
    expect(existsSync(join(folder, 'missing'))).toBe(false);
  });

  it('is rejected when its folder is a file', async () => {
    const file = await aDatabasePath();
    writeFileSync(file, 'mine');
    for (const create of [true, false])
      await expectRefused(join(file, 'store.db'), /is a file: name the folder that holds store\.db/, { create });
  });
});

describe('a new store', () => {
  it('is accessible by its owner only', async () => {
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

  it('is created once by concurrent callers', async () => {
    const path = await aDatabasePath();
    const stores = await Promise.all(Array.from({ length: 4 }, () => openSqliteStore({ path })));
    await Promise.all(stores.map((store, each) => store.jobs.add([{ id: `job-${each}`, queue: 'mail', data: '{}' }])));
    const counts = await Promise.all(stores.map((store) => store.jobs.count()));
    expect(counts.map(([mail]) => mail?.waiting)).toEqual([4, 4, 4, 4]);
    await Promise.all(stores.map((store) => store.close()));
  });
});
