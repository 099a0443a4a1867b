/** The worker's promises over a node's API. Outage: the server stops, its store stays, and it restarts at the same address. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { openTrial, type TrialServer } from '../server/trial-server.ts';
import { type Place, workerSuite } from './worker-suite.ts';

async function openHttpPlace(): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-http-'));
  const store = await openSqliteStore({ path: join(folder, 'store.db') });
  // A server that stops closes its store; this store must outlive it.
  const kept = { ...store, close: async () => undefined };
  let server: TrialServer = await openTrial({ store: kept });
  const { port } = server;
  return {
    address: `http://127.0.0.1:${port}`,
    store,
    takeAway: () => server.stop(),
    restore: async () => {
      server = await openTrial({ store: kept, port });
    },
    close: async () => {
      await server.stop();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

describe('over http', () => {
  workerSuite(openHttpPlace);
});
