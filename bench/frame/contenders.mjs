/** Who is measured: the module that drives it, the store it runs on, and what that store promises. */
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
    title: 'plainjob as it comes',
    store: 'sqlite',
    durability: 'SQLite WAL, synchronous=NORMAL (no fsync at a commit)',
  },
};

export const isOurs = (name) => name.startsWith('longhaul-');

/** Why somebody cannot be measured at all, where that can be said beforehand. */
export function whyNot(name) {
  const { store } = contenders[name];
  if (!isOurs(name) || existsSync(new URL(`../../dist/stores/${store}/`, import.meta.url))) return undefined;
  return `no ${store} store in this build`;
}
