/**
 * The environment of a run: one Redis server and one PostgreSQL server for the contenders that need one, and a directory
 * on the same disk for the others. Each measurement starts empty. Everything is removed, however the run ends.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contenders } from './contenders.mjs';
import { startPostgres } from './postgres-server.mjs';
import { startRedis } from './redis-server.mjs';
import { endSides, runSide, startSide } from './run-side.mjs';

/** Without `postgresBin` there is no PostgreSQL server. */
export async function openEnvironment({ redisPath, postgresBin, parent }) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  // The user of the PostgreSQL server must be able to enter it.
  chmodSync(folder, 0o711);
  const redis = await startRedis({ path: redisPath, folder: join(folder, 'redis') });
  const postgres = postgresBin ? await startPostgres({ bin: postgresBin, parent: folder }) : null;
  const servers = { redis, postgres };
  const cleanUp = () => {
    endSides();
    redis.kill();
    try {
      postgres?.kill();
    } finally {
      removeFolder(folder);
    }
  };
  process.once('exit', cleanUp);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  return {
    ...servers,
    folder,
    withPlace: (name, work) => withPlace({ name, folder, servers }, work),
    openPlace: (name) => openPlace({ name, folder, servers, isShared: true }),
    close: async () => {
      await redis.stop();
      await postgres?.stop();
    },
  };
}

/** Killed processes may still write for a moment. */
const removeFolder = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });

/** Calls `work` with functions that run actions of this contender on an empty store, then empties the store. */
async function withPlace({ name, folder, servers }, work) {
  const { sides, close } = await openPlace({ name, folder, servers });
  try {
    return await work(sides);
  } finally {
    await close();
  }
}

/** Opens a store: an empty one, or with `isShared` one that contenders have beside each other on the same servers. */
async function openPlace({ name, folder, servers, isShared = false }) {
  const { module = name, store, place: settings = {} } = contenders[name];
  const { place, close } = await stores[store]({ name, folder, isShared, ...servers });
  const task = (action, options) => ({ module, place: { ...settings, ...place }, action, options });
  const sides = {
    run: (action, options) => runSide(task(action, options)),
    start: (action, options, onProgress) => startSide({ ...task(action, options), onProgress }),
  };
  return { sides, close };
}

/** Opens a store of each kind. */
const stores = {
  redis: async ({ redis, isShared }) => {
    return { place: { port: redis.port }, close: async () => (isShared ? undefined : redis.flush()) };
  },
  postgres: async ({ name, postgres, isShared }) => {
    const database = isShared ? name.replaceAll('-', '_') : 'bench';
    await postgres.recreate(database);
    // The next measurement drops it.
    return { place: { url: postgres.url(database) }, close: async () => {} };
  },
  sqlite: async ({ name, folder }) => {
    const own = mkdtempSync(join(folder, `${name}-`));
    return { place: { folder: own }, close: async () => rmSync(own, { recursive: true, force: true }) };
  },
};
