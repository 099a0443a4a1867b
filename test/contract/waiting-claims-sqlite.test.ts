/** Claims wait in one engine of a SQLite file while another engine makes the changes that they wait for. */
import { describe } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { anEmptyDatabase, durability, removeFoldersAtTheEnd } from './open-sqlite.ts';
import { waitingClaimContract } from './waiting-claims.ts';
import { openWorkbench } from './workbench.ts';

removeFoldersAtTheEnd();

describe('on two engines of one SQLite file', () => {
  waitingClaimContract((clock = 'caller') => openWorkbench(openTwice, clock));
});

const openTwice: Parameters<typeof openWorkbench>[0] = async ({ clock }): Promise<Store> => {
  const options = { path: await anEmptyDatabase(), clock, durability };
  const [claiming, changing] = [await openSqliteStore(options), await openSqliteStore(options)];
  return {
    ...changing,
    jobs: { ...changing.jobs, claim: claiming.jobs.claim },
    close: async () => void (await Promise.all([claiming.close(), changing.close()])),
  };
};
