/** Rows that were changed outside of the store, as a faulty disk would do: detected, and never returned. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { Store } from '../../../core/ports/store.ts';
import { openDatabase } from '../engine/sqlite-database.ts';
import { openSqliteStore } from '../open-sqlite-store.ts';
import { checkRows } from './check-rows.ts';

removeFoldersAtTheEnd();

const LONG = JSON.stringify('x'.repeat(9_000));

async function aStore(): Promise<{ store: Store; path: string }> {
  const path = await aDatabasePath();
  const store = await openSqliteStore({ path });
  onTestFinished(() => store.close());
  return { store, path };
}

/** Changes one bit of one character: an x becomes a y. SQLite does not detect such damage. */
function flip(path: string, id: string, column: 'data' | 'result'): void {
  const db = openDatabase(path, 5_000);
  const flipped = `${column} = replace(${column}, 'xx', 'yx')`;
  const { changes } = db.prepare(`UPDATE jobs SET ${flipped} WHERE id = ? AND ${column} LIKE '%xx%'`).run(id);
  db.close();
  expect(changes).toBe(1);
}

const claim = (store: Store, limit: number) =>
  store.jobs.claim({ worker: 'w', queues: ['q'], limit, requestId: `r${Math.random()}` });
const named = (id: string, part: string) => ({
  code: 'data-corrupt',
  message: expect.stringContaining(`the ${part} of job ${id}`) as string,
});

describe('a job whose row is damaged', () => {
  it.each([
    ['short', '"xx"'],
    ['long', LONG],
  ])('%s data: find and list report it, and its claim fails it without blocking the others', async (_, data) => {
    const { store, path } = await aStore();
    await store.jobs.add([
      { id: 'bad', queue: 'q', data },
      { id: 'good', queue: 'q', data },
      { id: 'named', queue: 'q', data, name: 'n', tags: ['t'] },
    ]);
    flip(path, 'bad', 'data');
    flip(path, 'named', 'data');
    await expect(store.jobs.find(['good', 'bad'])).rejects.toMatchObject(named('bad', 'data'));
    await expect(store.jobs.list({ order: 'newest', limit: 10 })).rejects.toMatchObject(named('named', 'data'));
    const first = await claim(store, 1);
    expect(first.jobs).toEqual([]);
    // More jobs are waiting, so the worker must not sleep.
    expect(first.nextAt).toBeLessThanOrEqual(first.now + 1);
    const { jobs } = await claim(store, 10);
    expect(jobs).toMatchObject([{ id: 'good', data }]);
    expect(await store.jobs.insight({ kind: 'failures', queue: 'q' })).toMatchObject([
      { group: 'data-corrupt', count: 2 },
    ]);
    expect(await store.jobs.delete(['bad'])).toMatchObject([{ ok: true }]);
    expect(await store.jobs.find(['bad', 'good'])).toMatchObject([null, { id: 'good' }]);
  });

  it('a result: find reports it, and other calls succeed', async () => {
    const { store, path } = await aStore();
    await store.jobs.add([{ id: 'bad', queue: 'q', data: '1' }]);
    const { jobs } = await claim(store, 1);
    const settlement = { id: 'bad', token: jobs[0]?.lease?.token ?? 0, kind: 'complete', result: '"xx"' } as const;
    expect(await store.jobs.settle([settlement])).toMatchObject([{ ok: true }]);
    expect(await store.jobs.find(['bad'])).toMatchObject([{ result: '"xx"' }]);
    flip(path, 'bad', 'result');
    await expect(store.jobs.find(['bad'])).rejects.toMatchObject(named('bad', 'result'));
    expect(await store.jobs.count()).toMatchObject([{ done: 1 }]);
  });

  it('changed data gets a new checksum', async () => {
    const { store, path } = await aStore();
    await store.jobs.add([{ id: 'a', queue: 'q', data: '"old"' }]);
    expect(await store.jobs.change([{ id: 'a', data: '"xx"' }])).toMatchObject([{ ok: true }]);
    expect(await store.jobs.find(['a'])).toMatchObject([{ data: '"xx"' }]);
    flip(path, 'a', 'data');
    await expect(store.jobs.find(['a'])).rejects.toMatchObject(named('a', 'data'));
  });

  it('fields that are not JSON: the claim fails the job, and its history is reported', async () => {
    const { store, path } = await aStore();
    await store.jobs.add([{ id: 'bad', queue: 'q', data: '1', tags: ['t'] }]);
    await store.jobs.add([{ id: 'good', queue: 'q', data: '1', tags: ['t'] }]);
    const db = openDatabase(path, 5_000);
    db.exec(`UPDATE jobs SET rest = replace(rest, '{', ';'), history = '[;' WHERE id = 'bad'`);
    db.close();
    await expect(store.jobs.find(['bad'])).rejects.toMatchObject({ code: 'data-corrupt' });
    await expect(store.jobs.history('bad')).rejects.toMatchObject({ code: 'data-corrupt' });
    expect((await claim(store, 10)).jobs).toMatchObject([{ id: 'good' }]);
  });

  it('is found by a check of all rows', async () => {
    const { store, path } = await aStore();
    await store.jobs.add(Array.from({ length: 1_200 }, (_, each) => ({ id: `j${each}`, queue: 'q', data: '"xx"' })));
    expect(checkRows(path)).toMatchObject({ jobs: 1_200, damaged: [] });
    flip(path, 'j1', 'data');
    flip(path, 'j1100', 'data');
    expect(checkRows(path)).toMatchObject({
      jobs: 1_200,
      damaged: [
        { id: 'j1', part: 'data' },
        { id: 'j1100', part: 'data' },
      ],
    });
  });

  it('is not detected in a row that is older than checksums', async () => {
    const { store, path } = await aStore();
    await store.jobs.add([{ id: 'a', queue: 'q', data: '"xx"' }]);
    const db = openDatabase(path, 5_000);
    db.exec('UPDATE jobs SET data_sum = NULL');
    db.close();
    expect(await store.jobs.find(['a'])).toMatchObject([{ data: '"xx"' }]);
  });
});
