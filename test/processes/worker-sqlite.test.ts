/** The worker's promises over a SQLite file that several processes share. Outage: another process holds its lock. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { startFixture } from '../support/processes.ts';
import { type Place, workerSuite } from './worker-suite.ts';

async function openSqlitePlace(): Promise<Place> {
  const address = await mkdtemp(join(tmpdir(), 'longhaul-sqlite-'));
  const path = join(address, 'store.db');
  const store = await openSqliteStore({ path });
  const locker = await startFixture('sqlite-locker.mjs', [path]);
  const turn = async (type: string): Promise<void> => {
    locker.send('turn');
    await locker.next((message) => message['type'] === type);
  };
  return {
    address,
    store,
    takeAway: () => turn('locked'),
    restore: () => turn('unlocked'),
    close: async () => {
      await store.close();
      await locker.kill9();
      await rm(address, { recursive: true, force: true });
    },
  };
}

describe('over sqlite', () => {
  workerSuite(openSqlitePlace);
});
