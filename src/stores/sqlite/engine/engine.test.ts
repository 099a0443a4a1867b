/** An engine in the thread of the test, called through a port. */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { MessageChannel, MessagePort } from 'node:worker_threads';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { Job } from '../../../core/job/job.ts';
import type { CallOptions, ClaimResult, NewJob, StoreEvent } from '../../../core/ports/job-store.ts';
import { Ballast } from './ballast.ts';
import { Engine } from './engine.ts';
import { EngineClients } from './engine-clients.ts';
import { FileHealth } from './file-health.ts';
import { GroupWriter } from './group-writer.ts';
import { PortClient } from './port-client.ts';
import { Session } from './session.ts';
import { StoreClock } from './store-clock.ts';

removeFoldersAtTheEnd();

const ignore = (): void => undefined;
/** As SQLite and `toSyncProblem` report a failed fsync. */
const syncError = () =>
  Object.assign(new Error('disk I/O error'), {
    errcode: 1034,
    sqliteCodeName: 'SQLITE_IOERR',
    code: 'ERR_SQLITE_ERROR',
  });

/** `listening`: the engine that gets the events of others. */
function aSession(path: string, listening?: () => Engine): Session {
  const clock = new StoreClock('store');
  const callbacks = {
    hasListeners: () => listening?.().hasListeners ?? false,
    onEvents: (events: readonly StoreEvent[]) => listening?.().hear(events),
    onFailed: ignore,
  };
  const session = new Session({ path, durability: 'full', clock, ...callbacks });
  session.register();
  onTestFinished(() => session.close());
  return session;
}

async function anEngine(parts: { path?: string; wake?: () => void; hears?: boolean } = {}) {
  const path = parts.path ?? (await aDatabasePath());
  const session = aSession(path, parts.hears === true ? () => engine : undefined);
  const health = new FileHealth({ path, probe: () => session.probe() });
  const writer = new GroupWriter(session, new Ballast(path, ignore), health);
  const engine = new Engine({ session, writer, health, wake: parts.wake ?? ignore, onClosed: ignore });
  const join = () => {
    const { port1, port2 } = new MessageChannel();
    engine.join(port2);
    const client = new PortClient(port1);
    onTestFinished(() => client.close());
    return { client, left: once(port2, 'close') };
  };
  onTestFinished(() => {
    health.close();
  });
  return { client: join().client, join, health, session, path };
}

it('An engine with a broken file rejects every call, reads included.', async () => {
  const { client, health } = await anEngine();
  expect(await client.call('count', undefined, undefined)).toEqual([]);
  health.failed(syncError());
  const closed = { code: 'store-closed', message: expect.stringContaining('SQLITE_IOERR 1034') as string };
  await expect(client.call('count', undefined, undefined)).rejects.toMatchObject(closed);
  await expect(client.call('maintain', undefined, undefined)).rejects.toMatchObject(closed);
});

let requests = 0;
function claim(client: PortClient, options: CallOptions = {}, queue = 'q'): Promise<ClaimResult> {
  requests += 1;
  const request = { worker: 'w', queues: [queue], limit: 1, requestId: String(requests) };
  return client.call('claim', request, options) as Promise<ClaimResult>;
}
const wait = { ms: 60_000, signal: new AbortController().signal };

it('A claim that waits writes nothing, and gets no job when its client is gone.', async () => {
  const { client, join, path } = await anEngine();
  await client.call('add', [{ id: 'first', queue: 'other', data: '1' }]);
  const { size, mtimeMs } = statSync(`${path}-wal`);
  const { client: leaving, left } = join();
  claim(leaving, { wait }).catch(() => undefined);
  // Calls of one client are performed in their order.
  await claim(leaving);
  expect(statSync(`${path}-wal`)).toMatchObject({ size, mtimeMs });
  leaving.close();
  await left;
  await client.call('add', [{ id: 'a', queue: 'q', data: '1' }]);
  expect(await client.call('find', ['a'])).toMatchObject([{ state: 'waiting' }]);
});

it('A claim that is performed again in vain goes on waiting.', async () => {
  const { client } = await anEngine();
  const claims = [claim(client, { wait }), claim(client, { wait })];
  await client.call('add', [{ id: 'a', queue: 'q', data: '1' }]);
  expect((await Promise.race(claims)).jobs).toMatchObject([{ id: 'a' }]);
  await client.call('add', [{ id: 'b', queue: 'q', data: '1' }]);
  expect((await Promise.all(claims)).map(({ jobs }) => jobs.length)).toEqual([1, 1]);
});

it('A claim that waited is synced as its caller wants it.', async () => {
  const { client, session } = await anEngine();
  const begin = vi.spyOn(session.sync, 'begin');
  const later = () => begin.mock.calls.filter(([sync]) => sync === 'later').length;
  await client.call('add', [{ id: 'a', queue: 'q', data: '1', delayMs: 30 }]);
  expect((await claim(client, { wait })).jobs).toHaveLength(1);
  expect(later()).toBe(0);
  await client.call('add', [{ id: 'b', queue: 'q', data: '1', delayMs: 30 }]);
  expect((await claim(client, { wait, sync: 'later' })).jobs).toHaveLength(1);
  expect(later()).toBeGreaterThan(0);
});

function logSyncs({ sync }: Session, log: string[]): void {
  const now = sync.now.bind(sync);
  sync.now = () => {
    if (sync.isPending) log.push('sync');
    now();
  };
}

/** Logs, before a sync, what client and engine have sent: the test runs both in one thread. */
function logMessagesAtSync({ sync }: Session, log: string[]): void {
  const post = vi.spyOn(MessagePort.prototype, 'postMessage');
  onTestFinished(() => post.mockRestore());
  const now = sync.now.bind(sync);
  sync.now = () => {
    log.push(...post.mock.calls.map(([message]) => (message as { kind: string }).kind));
    post.mockClear();
    now();
  };
}

describe('an add whose job a claim gets that may be synced later', () => {
  async function anAdd(wake?: () => void) {
    const engine = await anEngine(wake === undefined ? {} : { wake });
    const log: string[] = [];
    logSyncs(engine.session, log);
    engine.client.subscribe((events) => void log.push(...events.map(({ type }) => type)));
    const add = (more: Partial<NewJob> = {}) =>
      engine.client.call('add', [{ id: 'a', queue: 'q', data: '1', ...more }]).then(() => log.push('add'));
    return { ...engine, log, add };
  }

  it('is answered after the sync, and so are its events; a claim that waited is answered before', async () => {
    const { client, session, log, add } = await anAdd();
    const waited = claim(client, { wait, sync: 'later' });
    // Calls of one client are performed in their order.
    await claim(client, { sync: 'later' });
    logMessagesAtSync(session, log);
    await Promise.all([add(), waited]);
    await expect.poll(() => log).toEqual(['requests', 'replies', 'sync', 'add', 'added', 'claimed']);
  });

  it('is synced before a waiting claim whose caller wants that', async () => {
    const { client, log, add } = await anAdd();
    const waited = claim(client, { wait }).then(() => log.push('claim'));
    await claim(client);
    await Promise.all([add(), waited]);
    expect(log).not.toContain('sync');
  });

  it('is synced before the claim is answered if it replaced the data of a job', async () => {
    const { client, session, log, add } = await anAdd();
    const unique = { key: 'one', scope: 'queue', until: 'ended', periodMs: 0 } as const;
    await add({ unique, delayMs: 60_000 });
    const waited = claim(client, { wait, sync: 'later' }).then(() => log.push('claim'));
    await claim(client, { sync: 'later' });
    await expect.poll(() => log).toContain('added');
    log.length = 0;
    logMessagesAtSync(session, log);
    const onTaken = { kind: 'debounce', maxWaitMs: null } as const;
    await Promise.all([add({ id: 'b', unique, runAt: 1, onTaken }), waited]);
    expect(log.slice(0, 4)).toEqual(['requests', 'sync', 'claim', 'add']);
  });

  it('has no known outcome when the sync fails', async () => {
    const { client, session, health, add } = await anAdd();
    const waited = claim(client, { wait, sync: 'later' });
    await claim(client, { sync: 'later' });
    session.sync.now = () => {
      throw syncError();
    };
    await expect(add()).rejects.toMatchObject({ code: 'outcome-unknown' });
    expect((await waited).jobs).toHaveLength(1);
    expect(health.broken).toBeDefined();
  });

  it('wakes another engine before the sync, and is answered after it', async () => {
    const woken: string[] = [];
    const { path, log, add } = await anAdd(() => woken.push(...log, 'wake'));
    aSession(path);
    await add();
    await expect.poll(() => log).toContain('added');
    woken.length = 0;
    log.length = 0;
    await add({ id: 'b' });
    expect(woken).toEqual(['wake']);
    expect(log.filter((each) => each !== 'added')).toEqual(['sync', 'add']);
  });
});

it('Other engines are woken before an add is answered, and after a claim is.', async () => {
  const reply = vi.spyOn(EngineClients.prototype, 'reply');
  onTestFinished(() => reply.mockRestore());
  const repliesBefore: number[] = [];
  const { client, path, session } = await anEngine({ wake: () => repliesBefore.push(reply.mock.calls.length) });
  aSession(path);
  const commit = session.commit.bind(session);
  session.commit = (hasTakenSlot) => {
    reply.mockClear();
    return commit(hasTakenSlot);
  };
  await client.call('add', [{ id: 'a', queue: 'q', data: '1' }]);
  await claim(client);
  await expect.poll(() => repliesBefore).toEqual([0, 1]);
});

it('A listener gets no event of another engine from before it began to listen.', async () => {
  const path = await aDatabasePath();
  // The engine is not woken: it reads the events with its next transaction.
  const { client } = await anEngine({ path, hears: true });
  const { client: other } = await anEngine({ path });
  await other.call('add', [{ id: 'before', queue: 'q', data: '1' }]);
  const heard: string[] = [];
  client.subscribe((events) => void heard.push(...events.map(({ id }) => id)));
  await client.call('add', [{ id: 'after', queue: 'q', data: '1' }]);
  await expect.poll(() => heard).toEqual(['after']);
});

it('A call that changes nothing is answered after a sync of what another engine added, also beside a pending claim.', async () => {
  const { client, path, session } = await anEngine();
  const { client: other } = await anEngine({ path });
  await client.call('add', [{ id: 'a', queue: 'q', data: '1' }]);
  await claim(client, { sync: 'later' });
  expect(session.sync.isPending).toBe(true);
  await other.call('add', [{ id: 'b', queue: 'q', data: '1' }]);
  await client.call('delete', ['none']);
  expect(session.sync.isPending).toBe(false);
});

it('Settings that another engine deleted are not in effect any more.', async () => {
  const { client, path } = await anEngine();
  const { client: other } = await anEngine({ path });
  const record = { kind: 'queue', key: 'q', value: JSON.stringify({ state: 'paused' }) };
  await other.call('records.put', record);
  await client.call('add', [{ id: 'a', queue: 'q', data: '1' }]);
  expect((await claim(client)).jobs).toHaveLength(0);
  await other.call('records.delete', { kind: 'queue', key: 'q' });
  expect((await claim(client)).jobs).toHaveLength(1);
});

it('An idle engine adds a long log of statistics to its cells.', async () => {
  const { client, session } = await anEngine();
  const aggregate = vi.spyOn(session, 'aggregateStatistics');
  const ids = Array.from({ length: 60 }, (_, each) => `job-${each}`);
  await client.call(
    'add',
    ids.map((id) => ({ id, queue: 'q', data: '1' })),
  );
  for (const _ of ids) {
    const { jobs } = await claim(client);
    await client.call('settle', [{ id: jobs[0]?.id, token: jobs[0]?.lease?.token, kind: 'complete' }]);
  }
  await expect.poll(() => aggregate.mock.calls.length).toBeGreaterThan(0);
  expect(session.hasLongLog).toBe(false);
  const cells = await client.call('insight', { kind: 'statistics', queue: 'q' });
  expect(cells).toMatchObject([{ run: { count: ids.length } }]);
});

/** An engine with a running job `a` and what else was added, and a log of its syncs, answers and events. */
async function aRunningJob(...more: readonly Partial<NewJob>[]) {
  const engine = await anEngine();
  const { client, session } = engine;
  const log: string[] = [];
  logSyncs(session, log);
  const claimNext = async (options: CallOptions = {}, queue = 'q'): Promise<Job | undefined> => {
    const { jobs } = await claim(client, { sync: 'later', ...options }, queue);
    log.push(queue === 'q' ? 'claim' : `claim in ${queue}`);
    return jobs[0];
  };
  await client.call('add', [
    { id: 'a', queue: 'q', data: '1', policy: { retries: 1 } },
    ...more.map((each) => ({ queue: 'q', data: '1', ...each })),
  ]);
  const job = await claimNext();
  session.sync.now();
  const settle = async (outcome: object = { kind: 'complete' }): Promise<void> => {
    await client.call('settle', [{ id: 'a', token: job?.lease?.token, ...outcome }]);
    log.push('settlement');
  };
  client.subscribe((events) => void log.push(...events.map(({ type }) => type)));
  // The engine looks for other engines when a listener begins: that is over when this is answered.
  await client.call('find', ['a']);
  log.length = 0;
  return { ...engine, log, claim: claimNext, settle };
}

describe('a settlement in the transaction of a claim that may be synced later', () => {
  it('is answered after the sync, and so are its events; the claim is answered before', async () => {
    const { log, claim, settle } = await aRunningJob({ id: 'b' });
    await Promise.all([settle(), claim()]);
    await expect.poll(() => log).toEqual(['claim', 'sync', 'settlement', 'completed', 'claimed']);
  });

  it('is answered after the sync if it is a retry, too, and so is a claim that gets the slot of its throttle', async () => {
    const retry = { kind: 'retry', failure: { group: 'g', message: 'm', detail: null }, delayMs: 60_000 };
    const plain = await aRunningJob({ id: 'b' });
    await Promise.all([plain.settle(retry), plain.claim()]);
    await expect.poll(() => plain.log).toEqual(['claim', 'sync', 'settlement', 'retried', 'claimed']);
    const slot = await aRunningJob({ id: 'b', policy: { throttles: ['one'] } });
    await Promise.all([slot.settle(retry), slot.claim()]);
    expect(slot.log.slice(0, 3)).toEqual(['sync', 'settlement', 'claim']);
  });

  it('is synced at once if its job failed', async () => {
    const { log, claim, settle } = await aRunningJob({ id: 'b' });
    const failed = { kind: 'fail', failure: { group: 'g', message: 'm', detail: null }, delayMs: 0, final: true };
    await Promise.all([settle(failed), claim()]);
    expect(log.slice(0, 3)).toEqual(['sync', 'settlement', 'claim']);
  });

  it('is synced before a read is answered', async () => {
    const { log, client, session, claim, settle } = await aRunningJob({ id: 'b' });
    const read = session.read.bind(session);
    session.read = (body) => {
      log.push('read');
      return read(body);
    };
    const settled = settle();
    await claim();
    expect(await client.call('find', ['a'])).toMatchObject([{ state: 'done' }]);
    await settled;
    expect(log.indexOf('sync')).toBeLessThan(log.indexOf('read'));
    expect(log).toContain('sync');
  });

  it('is synced before a claim that gets its dependent, or its slot of a throttle, is answered', async () => {
    const dependent = await aRunningJob({ id: 'b', dependsOn: ['a'] });
    await Promise.all([dependent.settle(), dependent.claim()]);
    expect(dependent.log.slice(0, 3)).toEqual(['sync', 'settlement', 'claim']);
    const slot = await aRunningJob({ id: 'b', policy: { throttles: ['one'] } });
    await Promise.all([slot.settle(), slot.claim()]);
    expect(slot.log.slice(0, 3)).toEqual(['sync', 'settlement', 'claim']);
  });

  it('is synced before a waiting claim that gets its dependent is answered', async () => {
    const { log, claim, settle } = await aRunningJob({ id: 'b', dependsOn: ['a'] }, { id: 'c', queue: 'other' });
    const waited = claim({ wait });
    // Calls of one client are performed in their order.
    await claim();
    log.length = 0;
    await Promise.all([settle(), claim({}, 'other')]);
    expect(await waited).toMatchObject({ id: 'b' });
    expect(log.slice(0, 4)).toEqual(['sync', 'claim', 'settlement', 'claim in other']);
  });

  it('is synced before the answer to a call that changes nothing, which is an error if the sync fails', async () => {
    const { log, client, session, claim, settle } = await aRunningJob({ id: 'b' });
    session.sync.now = () => {
      throw syncError();
    };
    // The sync waits for the next call, however long that takes.
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    onTestFinished(() => now.mockRestore());
    const settled = settle();
    await claim();
    const repeated = client.call('settle', [{ id: 'a', token: 0, kind: 'complete' }]);
    const outcomes = await Promise.allSettled([settled, repeated]);
    expect(outcomes).toMatchObject([{ reason: { code: 'outcome-unknown' } }, { reason: { code: 'outcome-unknown' } }]);
    expect(log).toEqual(['claim']);
  });

  it('is synced before any answer while another engine has the file open', async () => {
    const { log, path, client, claim, settle } = await aRunningJob({ id: 'b' }, { id: 'c' });
    aSession(path);
    await settle();
    const next = await claim();
    log.length = 0;
    const settled = client.call('settle', [{ id: 'b', token: next?.lease?.token, kind: 'complete' }]);
    await Promise.all([settled.then(() => log.push('settlement')), claim()]);
    expect(log.filter((each) => each !== 'claimed').slice(0, 2)).toEqual(['settlement', 'claim']);
  });

  it('is synced before any answer in the first transaction after another engine opened the file', async () => {
    const { log, path, claim, settle } = await aRunningJob({ id: 'b' });
    aSession(path);
    await Promise.all([settle(), claim()]);
    expect(log.slice(0, 2)).toEqual(['settlement', 'claim']);
    expect(log).not.toContain('sync');
  });

  it('has no known outcome when the sync fails, and no event', async () => {
    const { log, session, health, claim, settle } = await aRunningJob({ id: 'b' });
    session.sync.now = () => {
      throw syncError();
    };
    const settled = settle();
    expect(await claim()).toMatchObject({ id: 'b' });
    await expect(settled).rejects.toMatchObject({ code: 'outcome-unknown' });
    await expect(claim()).rejects.toMatchObject({ code: 'store-closed' });
    expect(health.broken).toBeDefined();
    expect(log).toEqual(['claim']);
  });
});
