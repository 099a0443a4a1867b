/** One SQLite file used by several processes: no job is claimed twice or lost, and no caller waits without an error. */
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { waitFor } from '../../src/testing/index.ts';
import { aDatabasePath, removeFoldersAtTheEnd } from '../contract/open-sqlite.ts';
import { type Fixture, startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';

removeFoldersAtTheEnd();

const JOBS = testSize({ small: 600, full: 6_000 });
const aJob = (id: string) => ({ id, queue: 'mail', data: '{}' });

let calls = 0;
async function ask(fixture: Fixture, request: object): Promise<unknown> {
  calls += 1;
  const id = calls;
  fixture.send({ id, store: 'it', ...request });
  const { answer, error } = await fixture.next((message) => message['id'] === id, 20_000);
  if (error !== undefined) throw new Error(JSON.stringify(error));
  return answer;
}

async function aProcessOn(path: string): Promise<Fixture> {
  const fixture = await startFixture('sqlite-process.mjs');
  await ask(fixture, { op: 'open', options: { path } });
  return fixture;
}

const open: { close(): Promise<void> }[] = [];
afterAll(async () => void (await Promise.all(open.map((store) => store.close()))));
async function aStoreOn(path: string) {
  const store = await openSqliteStore({ path });
  open.push(store);
  return store;
}

/** Claims until no job is left, and returns the claimed jobs. */
async function claimAll(fixture: Fixture, worker: string): Promise<readonly Job[]> {
  const claimed: Job[] = [];
  for (let round = 0; ; round++) {
    const request = { worker, queues: ['mail'], limit: 7, requestId: `${worker}-${round}` };
    const { jobs } = (await ask(fixture, { op: 'jobs', name: 'claim', args: [request] })) as { jobs: readonly Job[] };
    if (jobs.length === 0) return claimed;
    claimed.push(...jobs);
  }
}

describe('three processes on one file', () => {
  it('add and claim concurrently, and no job is claimed twice', async () => {
    const path = await aDatabasePath();
    const processes = await Promise.all([1, 2, 3].map(() => aProcessOn(path)));
    await Promise.all(
      Array.from({ length: JOBS }, (_, each) =>
        ask(processes[each % 3] as Fixture, { op: 'jobs', name: 'add', args: [[aJob(`job-${each}`)]] }),
      ),
    );
    const claimed = (await Promise.all(processes.map((each, place) => claimAll(each, `w${place}`)))).flat();
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(JOBS);
    expect(new Set(claimed.map(({ seq }) => seq)).size).toBe(JOBS);
    expect(new Set(claimed.map(({ lease }) => lease?.token)).size).toBe(JOBS);
    const store = await aStoreOn(path);
    expect(await store.jobs.count()).toMatchObject([{ queue: 'mail', running: JOBS, waiting: 0 }]);
  });
});

describe('a process that is killed', () => {
  it('leaves all acknowledged changes, and tokens continue to grow', async () => {
    const path = await aDatabasePath();
    const first = await aProcessOn(path);
    await ask(first, { op: 'jobs', name: 'add', args: [[aJob('a'), aJob('b')]] });
    const claim = { worker: 'w', queues: ['mail'], limit: 1, requestId: '1' };
    const { jobs } = (await ask(first, { op: 'jobs', name: 'claim', args: [claim] })) as { jobs: readonly Job[] };
    await first.kill9();
    const store = await aStoreOn(path);
    expect(await store.jobs.find(['a', 'b'])).toMatchObject([{ state: 'running' }, { state: 'waiting' }]);
    const next = await store.jobs.claim({ worker: 'v', queues: ['mail'], limit: 1, requestId: '2' });
    expect(next.jobs[0]?.lease?.token).toBeGreaterThan(jobs[0]?.lease?.token ?? Number.NaN);
  });
});

describe('a file that another process keeps locked', () => {
  it('can be read meanwhile, and a writer gets an error with its pid after five seconds', async () => {
    const path = await aDatabasePath();
    const store = await aStoreOn(path);
    await store.jobs.add([aJob('a')]);
    const locker = await startFixture('sqlite-locker.mjs', [path]);
    locker.send({});
    await locker.next(({ type }) => type === 'locked');
    const from = performance.now();
    const refused = store.jobs.add([aJob('b')]).then(
      () => 'added',
      (error: unknown) => error,
    );
    expect(await store.jobs.find(['a'])).toMatchObject([{ id: 'a' }]);
    const readMs = performance.now() - from;
    expect(await refused).toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining(`process ${locker.pid}`),
    });
    const waitedMs = performance.now() - from;
    expect(readMs).toBeLessThan(2_000);
    expect(waitedMs).toBeGreaterThan(4_900);
    locker.send({});
    await locker.next(({ type }) => type === 'unlocked');
    expect(await store.jobs.add([aJob('b')])).toMatchObject([{ outcome: 'added' }]);
  });

  it('is written as soon as the lock is released', async () => {
    const path = await aDatabasePath();
    const store = await aStoreOn(path);
    const locker = await startFixture('sqlite-locker.mjs', [path]);
    locker.send({});
    await locker.next(({ type }) => type === 'locked');
    const added = store.jobs.add([aJob('a')]);
    await store.jobs.count();
    locker.send({});
    expect(await added).toMatchObject([{ outcome: 'added' }]);
  });
});

describe('a lease that ends while a frozen process holds the lock of the file', () => {
  const LEASE_MS = 1_000;

  /** A signal stops one thread after the other: on a busy machine, the engine could still take the lock meanwhile. */
  async function freeze(fixture: Fixture): Promise<void> {
    fixture.stop();
    const tasks = `/proc/${fixture.pid}/task`;
    const isStopped = (task: string) => /\) T /.test(readFileSync(`${tasks}/${task}/stat`, 'utf8'));
    await waitFor('each thread is stopped', () => readdirSync(tasks).every(isStopped));
  }

  /** A job whose lease has ended, while its holder waits for the lock to renew it. */
  async function aLateRenewal() {
    const path = await aDatabasePath();
    const [store, holder] = [await aStoreOn(path), await aProcessOn(path)];
    const locker = await startFixture('sqlite-locker.mjs', [path]);
    await store.jobs.add([aJob('a')]);
    const request = { worker: 'holder', queues: ['mail'], limit: 1, leaseMs: LEASE_MS, requestId: '1' };
    const { jobs } = (await ask(holder, { op: 'jobs', name: 'claim', args: [request] })) as { jobs: readonly Job[] };
    locker.send({});
    await locker.next(({ type }) => type === 'locked');
    await freeze(locker);
    const heartbeat = { id: 'a', token: jobs[0]?.lease?.token };
    const renewal = ask(holder, { op: 'jobs', name: 'heartbeat', args: [[heartbeat]] });
    // A test that fails before it reads the answer ends the holder.
    renewal.catch(() => undefined);
    await sleep((jobs[0]?.lease?.until ?? 0) - Date.now());
    return { store, holder, locker, renewal };
  }

  it('is not taken by a process that gets the lock before its holder', async () => {
    const { store, holder, locker, renewal } = await aLateRenewal();
    // The holder waits, and cannot be the first when the lock is released.
    await freeze(holder);
    locker.cont();
    locker.send({});
    await locker.next(({ type }) => type === 'unlocked');
    const claim = { worker: 'other', queues: ['mail'], limit: 1, requestId: '2' };
    expect((await store.jobs.claim(claim)).jobs).toEqual([]);
    expect(await store.jobs.maintain({ limit: 10 })).toMatchObject({ overtaken: 0 });
    holder.cont();
    expect(await renewal).toMatchObject([{ ok: true }]);
  });
});

describe('a process that listens', () => {
  it('receives the event of another process in less than 50 ms', async () => {
    const path = await aDatabasePath();
    const [store, listener] = [await aStoreOn(path), await aProcessOn(path)];
    await ask(listener, { op: 'listen' });
    const delays: number[] = [];
    for (let time = 0; time < 20; time++) {
      await store.jobs.add([aJob(`wake-${time}`)]);
      const from = performance.now();
      await listener.next(({ events }) => JSON.stringify(events ?? '').includes(`wake-${time}"`));
      delays.push(performance.now() - from);
    }
    delays.sort((a, b) => a - b);
    process.stdout.write(`\nfigures: an event reaches another process after ${delays[10]?.toFixed(1)} ms (median)\n`);
    expect(delays[10]).toBeLessThan(50);
  });
});
