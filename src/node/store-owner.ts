/**
 * Which data directory a store belongs to, where nodes cannot share it (SQLite). The scripts of its queues, the files of
 * its jobs and the attempts to adopt are in one data directory, so one node works on such a store at a time.
 *
 *     no owner, or this data directory                      ──▶ owned
 *     another one, whose node runs                          ──▶ refused, with the pid of that node
 *     another one, with attempts that it has not settled    ──▶ refused: its next node settles them
 *     another one                                           ──▶ owned
 *
 * Invariant: the record is replaced only in the version that was judged, so that one of several nodes that start at once
 * becomes the owner.
 */
import { realpathSync, statSync } from 'node:fs';
import { holds } from '../core/lifecycle/lifecycle.ts';
import { LonghaulError } from '../core/ports/errors.ts';
import type { Store } from '../core/ports/store.ts';
import { readAttemptRecord } from './attempts/attempt-record.ts';
import { attemptFolder, type Home, homeAt } from './home.ts';
import { type Holder, isHolding, thisProcess } from './node-lock.ts';
import { registeredAttempts } from './scripts/attempt-registry.ts';

export const OWNER_RECORD = 'store-owner';
const KEY = 'node';

export interface OwnedStore {
  readonly store: Store;
  readonly home: Home;
  /** The database file; null where the store has none. */
  readonly file: string | null;
}

export interface StoreOwner {
  /** The path of the data directory. */
  readonly root: string;
  /** Device and inode of the database: a copy of the store names a node that does not work on the copy. */
  readonly file: string | null;
  /** The process of the node; null after it stopped. */
  readonly holder: Holder | null;
}

/** Limits how often the record may change under concurrent starts and stops. */
const MAX_TRIES = 20;

/** Throws `bad-input` when the store belongs to another data directory. Returns a function that releases it. */
export async function ownStore(owned: OwnedStore): Promise<{ release(): Promise<void> }> {
  if (owned.store.isShared) return { release: async () => undefined };
  const mine: StoreOwner = { root: realpathSync(owned.home.root), file: identityOf(owned.file), holder: thisProcess() };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const record = await owned.store.records.get(OWNER_RECORD, KEY);
    if (record !== null) await judge(owned.store, JSON.parse(record.value) as StoreOwner, mine);
    const version = await put(owned.store, mine, record?.version ?? 0);
    if (version !== null)
      return { release: async () => void (await put(owned.store, { ...mine, holder: null }, version)) };
  }
  throw new LonghaulError('bad-input', 'other nodes keep starting and stopping on this store: use one data directory');
}

/** Returns null when another node was faster. */
async function put({ records }: Store, owner: StoreOwner, ifVersion: number): Promise<number | null> {
  const answer = await records.put({ kind: OWNER_RECORD, key: KEY, value: JSON.stringify(owner), ifVersion });
  return answer.ok ? answer.version : null;
}

async function judge(store: Store, owner: StoreOwner, mine: StoreOwner): Promise<void> {
  // Nodes of the same data directory exclude each other by its lock.
  if (owner.root === mine.root || owner.file !== mine.file) return;
  if (owner.holder !== null && isHolding(owner.holder))
    throw new LonghaulError(
      'bad-input',
      `the store belongs to the data directory ${owner.root}, whose node (pid ${owner.holder.pid}) runs: ` +
        'stop that node first; to let several nodes share a store, give them a redis:// address',
    );
  const ids = await unsettled(store, homeAt(owner.root));
  if (ids.length === 0) return;
  throw new LonghaulError(
    'bad-input',
    `${ids.length} ${ids.length === 1 ? 'attempt' : 'attempts'} of the data directory ${owner.root} ` +
      `${ids.length === 1 ? 'is' : 'are'} not settled (job ${ids[0]}): its scripts may still run. ` +
      `Run longhaul serve --home ${owner.root} on this store until they have ended`,
  );
}

/** Jobs that this store has as running under the token of an attempt of that data directory. Reads only. */
async function unsettled(store: Store, home: Home): Promise<readonly string[]> {
  const attempts = await registeredAttempts(home);
  const jobs = await store.jobs.find(attempts.map(({ id }) => id));
  const tokens = await Promise.all(
    attempts.map(async ({ id, attempt }) => (await readAttemptRecord(attemptFolder(home, id, attempt)))?.token),
  );
  return jobs.flatMap((job, index) => {
    const token = tokens[index];
    return job !== null && token !== undefined && holds(job, token) ? [job.id] : [];
  });
}

function identityOf(file: string | null): string | null {
  if (file === null) return null;
  const { dev, ino } = statSync(file);
  return `${dev}:${ino}`;
}
