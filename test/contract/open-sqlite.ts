/** Fresh SQLite stores for tests, each in a folder of its own that is gone at the end of the test file. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { proofSize } from '../support/proof.ts';
import type { OpenStore } from './contract.ts';

const folders: string[] = [];

/** To be called where the suite is described. */
export function removeFoldersAtTheEnd(): void {
  afterAll(async () => {
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
}

export async function aDatabasePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-contract-'));
  folders.push(folder);
  return join(folder, 'store.db');
}

/** What no power cut is part of needs no fsync at each commit to be shown. */
export const durability = proofSize({ small: 'relaxed', full: 'full' } as const);

export const openFreshSqlite: OpenStore = async ({ clock }) =>
  openSqliteStore({ path: await aDatabasePath(), clock, durability });
