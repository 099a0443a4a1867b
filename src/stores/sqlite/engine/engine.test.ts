/** An engine in the thread of the test, called through a port. */
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
import type { CallOptions, ClaimResult } from '../../../core/ports/job-store.ts';
import { Ballast } from './ballast.ts';
import { Engine } from './engine.ts';
import { FileHealth } from './file-health.ts';
import { GroupWriter } from './group-writer.ts';
import { PortClient } from './port-client.ts';
import { Session } from './session.ts';
import { StoreClock } from './store-clock.ts';

removeFoldersAtTheEnd();

async function anEngine() {
  const path = await aDatabasePath();
  const ignore = (): void => undefined;
  const clock = new StoreClock('store');
  const callbacks = { hasListeners: () => false, onEvents: ignore, onFailed: ignore };
  const session = new Session({ path, durability: 'full', clock, ...callbacks });
  session.register();
  const health = new FileHealth({ path, probe: () => session.probe() });
  const writer = new GroupWriter(session, new Ballast(path, ignore), health);
  const engine = new Engine({ session, writer, health, wake: ignore, onClosed: ignore });
  const join = () => {
    const { port1, port2 } = new MessageChannel();
    engine.join(port2);
    const client = new PortClient(port1);
    onTestFinished(() => client.close());
    return { client, left: once(port2, 'close') };
  };
  onTestFinished(() => {
    health.close();
    session.close();
  });
  return { client: join().client, join, health, session, path };
}

it('An engine with a broken file rejects every call, reads included.', async () => {
  const { client, health } = await anEngine();
  expect(await client.call('count', undefined, undefined)).toEqual([]);
  const sync = Object.assign(new Error('disk I/O error'), { errcode: 1034, sqliteCodeName: 'SQLITE_IOERR' });
  health.failed(sync);
  const closed = { code: 'store-closed', message: expect.stringContaining('SQLITE_IOERR 1034') as string };
  await expect(client.call('count', undefined, undefined)).rejects.toMatchObject(closed);
  await expect(client.call('maintain', undefined, undefined)).rejects.toMatchObject(closed);
});

let requests = 0;
function claim(client: PortClient, options: CallOptions = {}): Promise<ClaimResult> {
  requests += 1;
  const request = { worker: 'w', queues: ['q'], limit: 1, requestId: String(requests) };
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
  const later = vi.spyOn(session.sync, 'allowLater');
  await client.call('add', [{ id: 'a', queue: 'q', data: '1', delayMs: 30 }]);
  expect((await claim(client, { wait })).jobs).toHaveLength(1);
  expect(later).not.toHaveBeenCalled();
  await client.call('add', [{ id: 'b', queue: 'q', data: '1', delayMs: 30 }]);
  expect((await claim(client, { wait, sync: 'later' })).jobs).toHaveLength(1);
  expect(later).toHaveBeenCalledTimes(2);
});
