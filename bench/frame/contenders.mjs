/** The measured systems: module, store and durability. */
import { existsSync } from 'node:fs';

const everySecond = 'Redis, AOF fsynced every second';

export const contenders = {
  'longhaul-redis': { title: 'Longhaul, Redis', store: 'redis', durability: everySecond },
  'longhaul-sqlite': {
    title: 'Longhaul, SQLite',
    store: 'sqlite',
    durability: 'SQLite WAL, synchronous=FULL (fsync before each reply, commits in groups)',
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
};

export const isOurs = (name) => name.startsWith('longhaul-');

/** Returns why a contender cannot be measured, or undefined. */
export function unavailableReason(name) {
  const { store } = contenders[name];
  if (!isOurs(name) || existsSync(new URL(`../../dist/stores/${store}/`, import.meta.url))) return undefined;
  return `no ${store} store in this build`;
}
