import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { backupDatabase, raiseEpoch } from './backup-database.ts';
import { checkDatabase } from './check-database.ts';
import { SCHEMA_VERSION } from './engine/schema.ts';
import { openSqliteStore } from './open-sqlite-store.ts';

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-backup-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function aStore(folder: string) {
  const store = await openSqliteStore({ path: join(folder, 'store.db') });
  onTestFinished(() => store.close());
  return store;
}

const jobsOf = (from: number, count: number) =>
  Array.from({ length: count }, (_, each) => ({
    id: `job-${from + each}`,
    queue: 'mail',
    data: `"${'x'.repeat(500)}"`,
  }));

describe('a copy of a database', () => {
  it('is a consistent snapshot while another client writes', async () => {
    const folder = aFolder();
    const store = await aStore(folder);
    for (let from = 0; from < 15_000; from += 500) await store.jobs.add(jobsOf(from, 500));
    let isOver = false;
    let added = 15_000;
    const writing = (async () => {
      for (; !isOver; added += 50) await store.jobs.add(jobsOf(added, 50));
    })();
    const seen: number[] = [];
    const to = join(folder, 'copy.db');
    await backupDatabase(join(folder, 'store.db'), to, ({ pages }) => seen.push(pages));
    isOver = true;
    await writing;
    // The copy never restarted, however much was written meanwhile.
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.length).toBeGreaterThan(0);
    const copy = await openSqliteStore({ path: to });
    onTestFinished(() => copy.close());
    const [counts] = await copy.jobs.count();
    // Only complete adds of fifty jobs, without a gap.
    const waiting = counts?.waiting ?? 0;
    expect(waiting).toBeGreaterThanOrEqual(15_000);
    expect(waiting % 50).toBe(0);
    const found = await copy.jobs.find(jobsOf(0, waiting).map(({ id }) => id));
    expect(found.every((job) => job !== null)).toBe(true);
  });

  it('has the statistics of a moment ago, which are still in the log', async () => {
    const folder = aFolder();
    const store = await aStore(folder);
    await store.jobs.add(jobsOf(0, 3));
    const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['mail'], limit: 3, requestId: '1' });
    await store.jobs.settle(jobs.map(({ id, lease }) => ({ kind: 'complete', id, token: lease?.token ?? 0 })));
    const to = join(folder, 'copy.db');
    await backupDatabase(join(folder, 'store.db'), to);
    const copy = await openSqliteStore({ path: to });
    onTestFinished(() => copy.close());
    const statistics = await copy.jobs.insight({ kind: 'statistics' });
    expect(statistics).toMatchObject([{ queue: 'mail', wait: { count: 3 }, run: { count: 3 } }]);
    expect(statistics).toEqual(await store.jobs.insight({ kind: 'statistics' }));
  });

  it('gives tokens that are larger than all given before, including those of other copies', async () => {
    const folder = aFolder();
    const store = await aStore(folder);
    await store.jobs.add(jobsOf(0, 10));
    const claim = { worker: 'w', queues: ['mail'], limit: 1 };
    const to = join(folder, 'copy.db');
    await backupDatabase(join(folder, 'store.db'), to);
    const [later] = (await store.jobs.claim({ ...claim, requestId: '1' })).jobs;
    const first = raiseEpoch(to, 1_800_000_000_000);
    expect(first).toBeGreaterThan(later?.lease?.token ?? Number.POSITIVE_INFINITY);
    const second = join(folder, 'second.db');
    await backupDatabase(join(folder, 'store.db'), second);
    expect(raiseEpoch(second, 1_800_000_001_000)).toBeGreaterThan(first);
    // A clock that was set back does not lower the numbers.
    expect(raiseEpoch(second, 1_000)).toBeGreaterThan(first);
    const copy = await openSqliteStore({ path: to });
    onTestFinished(() => copy.close());
    const [claimed] = (await copy.jobs.claim({ ...claim, requestId: '2' })).jobs;
    expect(claimed?.lease?.token).toBeGreaterThan(first);
  });
});

describe('a check of a database', () => {
  it('returns its facts', async () => {
    const folder = aFolder();
    await aStore(folder);
    expect(checkDatabase(join(folder, 'store.db'))).toMatchObject({ journalMode: 'wal', schema: SCHEMA_VERSION });
  });

  it.each([
    ['is missing', (path: string) => rmSync(path)],
    ['is empty', (path: string) => truncateSync(path, 0)],
    ['was cut', (path: string) => truncateSync(path, 20_480)],
    ['is something else', (path: string) => writeFileSync(path, 'hello, I am no database at all'.repeat(400))],
    [
      'was overwritten in the middle',
      (path: string) => {
        const bytes = readFileSync(path);
        bytes.fill(0xff, 8_192, 24_576);
        writeFileSync(path, bytes);
      },
    ],
  ])('reports a file that %s', async (_how, damage) => {
    const folder = aFolder();
    const path = join(folder, 'store.db');
    const store = await openSqliteStore({ path });
    await store.jobs.add(jobsOf(0, 200));
    await store.close();
    damage(path);
    expect(() => checkDatabase(path)).toThrow(/is damaged/);
  });
});
