/** Opens fresh SQLite stores for tests, each in a directory of its own that is removed at the end of the test file. */
import { once } from 'node:events';
import { copyFile, link, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { afterAll } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { openConnection } from '../../src/stores/sqlite/engine/connection.ts';
import { openEngine } from '../../src/stores/sqlite/engine/open-engine.ts';
import { PortClient } from '../../src/stores/sqlite/engine/port-client.ts';
import { ownStore } from '../../src/stores/sqlite/engine/port-store.ts';
import { openSqliteStore } from '../../src/stores/sqlite/open-sqlite-store.ts';
import { isFullSize, testSize } from '../support/test-size.ts';
import type { OpenStore } from './contract.ts';

const folders: string[] = [];
let pattern: Promise<Pattern> | undefined;

/** An empty database, and the ballast file that an engine created beside it. */
interface Pattern {
  readonly database: string;
  readonly ballast: string;
}

/** Call it where the suite is described. */
export function removeFoldersAtTheEnd(): void {
  afterAll(async () => {
    pattern = undefined;
    for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
  });
}

export async function aDatabasePath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'longhaul-contract-'));
  folders.push(folder);
  return join(folder, 'store.db');
}

/**
 * Creates a database to open. A suite with hundreds of stores saves time: at the small size each is a copy of one that
 * was created and never used, with the same ballast file, which is never changed.
 */
export async function anEmptyDatabase(): Promise<string> {
  const path = await aDatabasePath();
  if (isFullSize) return path;
  pattern ??= makePattern();
  const { database, ballast } = await pattern;
  await copyFile(database, path);
  await link(ballast, join(dirname(path), 'ballast'));
  return path;
}

async function makePattern(): Promise<Pattern> {
  const path = await aDatabasePath();
  openConnection({ path, durability: 'relaxed' }).close();
  await copyFile(path, `${path}.pattern`);
  await (await openHere({ path, clock: 'caller', durability: 'relaxed' })).close();
  return { database: `${path}.pattern`, ballast: join(dirname(path), 'ballast') };
}

/** Tests without power cuts need no fsync at each commit. */
export const durability = testSize({ small: 'relaxed', full: 'full' } as const);

/**
 * In production the engine has a thread of its own. A suite with hundreds of stores saves the start of as many threads;
 * everything else is the same.
 */
const open = testSize({ small: openHere, full: openSqliteStore });

export const openFreshSqlite: OpenStore = async ({ clock }) =>
  open({ path: await anEmptyDatabase(), clock, durability });

async function openHere(options: Parameters<typeof openEngine>[0]): Promise<Store> {
  const { port1, port2 } = new MessageChannel();
  openEngine(options).join(port2);
  return ownStore(new PortClient(port1), dirname(options.path), once(port1, 'close'));
}
