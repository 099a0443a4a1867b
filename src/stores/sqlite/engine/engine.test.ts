/** An engine in the thread of the test, called through a port. */
import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { aDatabasePath, removeFoldersAtTheEnd } from '../../../../test/contract/open-sqlite.ts';
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
  const { port1, port2 } = new MessageChannel();
  engine.join(port2);
  const client = new PortClient(port1);
  onTestFinished(() => {
    client.close();
    health.close();
    session.close();
  });
  return { client, health };
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
