/** The store as a whole: its thread, closing, and what callers get when the thread dies. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../test/contract/open-sqlite.ts';
import type { Job } from '../../core/job/job.ts';
import { MAX_REBASED } from '../../core/operations/clock-step.ts';
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { Store, StoreThread } from '../../core/ports/store.ts';
import { openSqliteStore, openWithEngine } from './open-sqlite-store.ts';

removeFoldersAtTheEnd();

const aJob = (id: string) => ({ id, queue: 'mail', data: '{}' });
const manyJobs = (count: number) => Array.from({ length: count }, (_, each) => aJob(`job-${each}`));
const claim = async (store: Store, requestId = 'first'): Promise<readonly Job[]> =>
  (await store.jobs.claim({ worker: 'w', queues: ['mail'], limit: 10, requestId })).jobs;

/** A log frame that ends a transaction contains the size of the database. */
function commitsInLog(path: string): number {
  const log = readFileSync(`${path}-wal`);
  const salt = log.subarray(16, 24);
  let commits = 0;
  for (let at = 32; at < log.length && log.subarray(at + 8, at + 16).equals(salt); at += 24 + 4096)
    if (log.readUInt32BE(at + 4) > 0) commits += 1;
  return commits;
}

function openFilesUnder(folder: string): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const file = readlinkSync(`/proc/self/fd/${name}`);
      return file.startsWith(folder) ? [file] : [];
    } catch {
      return [];
    }
  });
}

describe('maintenance', () => {
  it('runs after the other calls of the same moment', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const order: string[] = [];
    await Promise.all([
      store.jobs.maintain({ limit: 10 }).then(() => order.push('maintenance')),
      store.jobs.add([aJob('a')]).then(() => order.push('add')),
    ]);
    expect(order).toEqual(['add', 'maintenance']);
    await store.close();
  });

  it('runs although other calls never stop writing, and before the store closes', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    let isDone = false;
    const addUntilDone = async (name: string) => {
      for (let n = 0; !isDone; n += 1) await store.jobs.add([aJob(`${name}-${n}`)]);
    };
    const producers = ['a', 'b', 'c', 'd'].map(addUntilDone);
    expect(await store.jobs.maintain({ limit: 10 })).toMatchObject({ more: false });
    isDone = true;
    await Promise.all(producers);
    const last = store.jobs.maintain({ limit: 10 });
    await store.close();
    expect(await last).toMatchObject({ more: false });
  });
});

describe('concurrent calls', () => {
  it('are committed in few transactions', async () => {
    const path = await aDatabasePath();
    const store = await openSqliteStore({ path });
    const before = commitsInLog(path);
    await Promise.all(manyJobs(500).map((job) => store.jobs.add([job])));
    expect(commitsInLog(path) - before).toBeLessThanOrEqual(5);
    await store.close();
  });

  it('are committed in one transaction when a claim follows a settlement', async () => {
    const path = await aDatabasePath();
    const store = await openSqliteStore({ path });
    await store.jobs.add([aJob('a'), aJob('b')]);
    const { jobs } = await store.jobs.claim({ worker: 'w', queues: ['mail'], limit: 1, requestId: '1' });
    const before = commitsInLog(path);
    const token = jobs[0]?.lease?.token ?? 0;
    await Promise.all([store.jobs.settle([{ id: 'a', token, kind: 'complete' }]), claim(store, '2')]);
    expect(commitsInLog(path) - before).toBe(1);
    await store.close();
  });

  it('write nothing when they change nothing', async () => {
    const path = await aDatabasePath();
    const store = await openSqliteStore({ path });
    await store.jobs.add([{ ...aJob('a'), delayMs: 60_000 }]);
    const before = commitsInLog(path);
    for (let each = 0; each < 5; each++) expect(await claim(store, String(each))).toEqual([]);
    await store.jobs.count();
    expect(commitsInLog(path)).toBe(before);
    await store.close();
  });

  it('succeed although one of them cannot be sent', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const unsendable = store.jobs.add([{ ...aJob('a'), data: (() => undefined) as never }]);
    const others = Promise.all([store.jobs.add([aJob('b')]), store.jobs.count()]);
    await expect(unsendable).rejects.toMatchObject({ code: 'bad-input' });
    // The count may be read before or after the other add.
    expect(await others).toMatchObject([[{ outcome: 'added' }], expect.any(Array)]);
    await store.close();
  });
});

describe('a backward clock step', () => {
  const AHEAD = 1_750_000_000_000;
  const BACK = { now: AHEAD - 86_400_000 };

  it('is applied to its end by the next process that opens the store', async () => {
    const path = await aDatabasePath();
    const first = await openSqliteStore({ path, clock: 'guarded' });
    await first.jobs.add(manyJobs(2 * MAX_REBASED), { now: AHEAD });
    await first.jobs.add([aJob('last')], BACK);
    await first.close();
    const second = await openSqliteStore({ path, clock: 'guarded' });
    await second.jobs.maintain({ limit: 0 }, BACK);
    await second.jobs.maintain({ limit: 0 }, BACK);
    expect(await second.jobs.count(['mail'], BACK)).toMatchObject([{ waiting: 2 * MAX_REBASED + 1, scheduled: 0 }]);
    await second.close();
  });
});

describe('a listener', () => {
  it('receives an event for every change, however many there are', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    let received = 0;
    const all = new Promise<void>((resolve) =>
      store.jobs.subscribe((events) => {
        received += events.length;
        if (received === 1_500) resolve();
      }),
    );
    for (let each = 0; each < 1_500; each++) await store.jobs.add([aJob(`job-${each}`)]);
    await all;
    await store.close();
  });

  it('of scope work receives no event of claims and completions, unless another listener wants all', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const heard: string[] = [];
    const note = (events: readonly StoreEvent[]) => heard.push(...events.map(({ type, id }) => `${type} ${id}`));
    const runOne = async (id: string) => {
      await store.jobs.add([aJob(id), aJob(`${id}-other`)]);
      const [job] = (await store.jobs.claim({ worker: 'w', queues: ['mail'], limit: 1, requestId: id })).jobs;
      await store.jobs.settle([{ id, token: job?.lease?.token ?? 0, kind: 'complete' }]);
      await store.jobs.cancel([{ id: `${id}-other` }]);
      await expect.poll(() => heard.at(-1)).toBe(`cancelled ${id}-other`);
      return heard.splice(0);
    };
    store.jobs.subscribe(note, 'work');
    const few = ['adding', 'added', 'added', 'cancelled'];
    const types = (events: readonly string[]) => events.map((event) => event.split(' ')[0]);
    expect(types(await runOne('a'))).toEqual(few);
    const stop = store.jobs.subscribe(() => undefined);
    expect(types(await runOne('b'))).toEqual(['adding', 'added', 'added', 'claimed', 'completed', 'cancelled']);
    stop();
    expect(types(await runOne('c'))).toEqual(few);
    await store.close();
  });
});

describe('a closed store', () => {
  it('answers pending calls, rejects new ones, and leaves no temporary files or open files', async () => {
    const path = await aDatabasePath();
    const { store, engine } = await openWithEngine({ path });
    const ended = new Promise((resolve) => engine.once('exit', resolve));
    const underWay = Promise.all(manyJobs(300).map((job) => store.jobs.add([job])));
    await Promise.all([store.close(), store.close()]);
    expect(await ended).toBe(0);
    expect(await underWay).toHaveLength(300);
    expect(openFilesUnder(dirname(path))).toEqual([]);
    expect(readdirSync(dirname(path)).sort()).toEqual(['ballast', 'clock', 'store.db', 'wake']);
    await expect(store.jobs.count()).rejects.toMatchObject({ code: 'store-closed' });
    await store.close();
  });

  it('has all jobs when it is opened again, and gives no token twice', async () => {
    const path = await aDatabasePath();
    const first = await openSqliteStore({ path });
    await first.jobs.add(manyJobs(3));
    const [, , last] = await claim(first);
    await first.jobs.settle([{ id: last?.id ?? '', token: last?.lease?.token ?? 0, kind: 'release', reason: 'over' }]);
    await first.close();
    const second = await openSqliteStore({ path });
    expect(await second.jobs.count()).toMatchObject([{ queue: 'mail', running: 2, waiting: 1 }]);
    const [again] = await claim(second, 'second');
    expect(again).toMatchObject({ id: last?.id, attempt: 2 });
    expect(again?.lease?.token).toBeGreaterThan(last?.lease?.token ?? 0);
    await second.close();
  });
});

describe('an engine that dies', () => {
  it('rejects pending calls with outcome-unknown, and new ones with store-closed', async () => {
    const { store, engine } = await openWithEngine({ path: await aDatabasePath() });
    await store.jobs.count();
    const underWay = Promise.allSettled(manyJobs(200).map((job) => store.jobs.add([job])));
    await new Promise((resolve) => setImmediate(resolve));
    await engine.terminate();
    const outcomes = new Set(
      (await underWay).map((each) => (each.status === 'fulfilled' ? 'ok' : (each.reason as { code: string }).code)),
    );
    outcomes.delete('ok');
    expect([...outcomes]).toEqual(outcomes.size === 0 ? [] : ['outcome-unknown']);
    await expect(store.jobs.add([aJob('z')])).rejects.toMatchObject({ code: 'store-closed' });
    await store.close();
  });
});

describe('a module in the thread of the engine', () => {
  const fixture = new URL('../../../test/fixtures/store-thread-module.mjs', import.meta.url).href;

  it('uses the store while the main thread is blocked, receives its events, and closes on its own', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const { call, events, closed } = runIn(store, fixture);
    await store.jobs.add([aJob('a')]);
    const [job] = await claim(store);
    const beat = { id: 'a', token: job?.lease?.token ?? 0, progress: { percent: 50, text: null } };
    const answer = call('heartbeat', [beat]);
    const unblockedAt = Date.now() + 500;
    while (Date.now() < unblockedAt);
    expect(await answer).toMatchObject({ answer: [{ ok: true }] });
    const [found] = await store.jobs.find(['a']);
    expect(found).toMatchObject({ progress: { percent: 50 } });
    expect(found?.progress?.at).toBeLessThan(unblockedAt - 100);
    expect(events).toContainEqual(expect.objectContaining({ type: 'progress', id: 'a' }));
    await call('close', null);
    await closed;
    expect(await store.jobs.count()).toMatchObject([{ queue: 'mail', running: 1 }]);
    await store.close();
  });

  it('has its port closed when the store closes, and does not keep the thread alive', async () => {
    const { store, engine } = await openWithEngine({ path: await aDatabasePath() });
    const ended = new Promise((resolve) => engine.once('exit', resolve));
    const { call, closed } = runIn(store, fixture);
    await call('count', []);
    await store.close();
    expect(await ended).toBe(0);
    await closed;
  });

  it('has its port closed when the engine has ended', async () => {
    const { store, engine } = await openWithEngine({ path: await aDatabasePath() });
    const { call, closed } = runIn(store, fixture);
    await call('count', []);
    await engine.terminate();
    await closed;
    await runIn(store, fixture).closed;
    await store.close();
  });

  it('that does not exist is reported, and the engine continues', async () => {
    const store = await openSqliteStore({ path: await aDatabasePath() });
    const { next, closed } = runIn(store, new URL('./no-such-module.mjs', import.meta.url).href);
    expect(await next()).toMatchObject({ kind: 'failed', message: expect.stringContaining('no-such-module.mjs') });
    await closed;
    expect(await store.jobs.add([aJob('a')])).toMatchObject([{ ok: true }]);
    await store.close();
  });
});

/** Runs a module in the store's thread. Its messages but events are taken one by one. */
function runIn(store: Store, module: string) {
  const { port1: port, port2 } = new MessageChannel();
  const events: StoreEvent[] = [];
  const waiting: ((message: unknown) => void)[] = [];
  port.on('message', (message: { events?: readonly StoreEvent[] }) => {
    if (message.events === undefined) waiting.shift()?.(message);
    else events.push(...message.events);
  });
  const closed = new Promise<void>((resolve) => port.once('close', resolve));
  const next = () => new Promise<unknown>((resolve) => waiting.push(resolve));
  const call = (name: string, argument: unknown): Promise<unknown> => {
    const answer = next();
    port.postMessage({ name, argument });
    return answer;
  };
  (store.describe() as StoreThread).run(module, port2);
  return { call, next, events, closed };
}
