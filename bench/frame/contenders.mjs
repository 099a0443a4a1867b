/** The measured systems: module, store and durability. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const everySecond = 'Redis, AOF fsynced every second';
const atCommit = 'PostgreSQL, fsync and synchronous_commit on (fsync at each commit, commits in groups)';

export const contenders = {
  'longhaul-redis': { title: 'Longhaul, Redis', store: 'redis', durability: everySecond },
  'longhaul-sqlite': {
    title: 'Longhaul, SQLite',
    store: 'sqlite',
    durability: 'SQLite WAL, synchronous=FULL (fsync before each reply except to a local claim, commits in groups)',
  },
  bullmq: { title: 'BullMQ', store: 'redis', durability: everySecond },
  'bee-queue': { title: 'bee-queue', store: 'redis', durability: everySecond },
  'plainjob-full': {
    title: 'plainjob, FULL',
    module: 'plainjob',
    store: 'sqlite',
    place: { synchronous: 'FULL' },
    durability: 'SQLite WAL, synchronous=FULL (fsync at each commit)',
  },
  plainjob: {
    title: 'plainjob, defaults',
    store: 'sqlite',
    durability: 'SQLite WAL, synchronous=NORMAL (no fsync at a commit)',
  },
  'pg-boss': { title: 'pg-boss', store: 'postgres', durability: atCommit },
  'pg-boss-heartbeat': {
    title: 'pg-boss, heartbeat of 10 s',
    module: 'pg-boss',
    store: 'postgres',
    place: { heartbeatSeconds: 10 },
    durability: atCommit,
    isLongOnly: true,
  },
  'graphile-worker': { title: 'Graphile Worker, defaults', store: 'postgres', durability: atCommit },
  'graphile-worker-local': {
    title: 'Graphile Worker, local queue',
    module: 'graphile-worker',
    store: 'postgres',
    place: { isLocal: true },
    durability: `${atCommit}; claims 500 jobs ahead`,
  },
};

/** Which contenders a measurement has besides a store of Longhaul: by what their store is. */
export const onPostgres = Object.keys(contenders).filter((name) => contenders[name].store === 'postgres');

export const isOurs = (name) => name.startsWith('longhaul-');

/** Adds the stores of another build of Longhaul, and returns pairs of names: this build's and the other's. */
export function addOtherBuild(folder, stores) {
  return stores.map((store) => {
    const name = `longhaul-${store}`;
    const other = `${name}-other`;
    const { title, ...rest } = contenders[name];
    contenders[other] = { ...rest, title: `${title}, other build`, module: name, place: { build: folder } };
    return { name, other };
  });
}

/** Returns why a contender cannot be measured, or undefined. */
export function unavailableReason(name) {
  const { store, place } = contenders[name];
  const build = place?.build ?? join(import.meta.dirname, '..', '..');
  if (!isOurs(name) || existsSync(join(build, 'dist', 'stores', store))) return undefined;
  return `no ${store} store in this build`;
}
