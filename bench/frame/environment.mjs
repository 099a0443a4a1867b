/**
 * The environment of a run: one Redis server and one PostgreSQL server for the contenders that need one, and a directory
 * on the same disk for the others. Each measurement starts empty. Everything is removed, however the run ends.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contenders } from './contenders.mjs';
import { startPostgres } from './postgres-server.mjs';
import { startRedis } from './redis-server.mjs';
import { endSides, runSide, startSide } from './run-side.mjs';

const database = 'bench';

/** Without `postgresBin` there is no PostgreSQL server. */
export async function openEnvironment({ redisPath, postgresBin, parent }) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  const redis = await startRedis({ path: redisPath, folder: join(folder, 'redis') });
  const postgres = postgresBin ? await startPostgres({ bin: postgresBin, parent: folder }) : null;
  const servers = { redis, postgres };
  const cleanUp = () => {
    endSides();
    redis.kill();
    postgres?.kill();
    // Killed processes may still write for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  };
  process.once('exit', cleanUp);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  return {
    ...servers,
    folder,
    withPlace: (name, work) => withPlace({ name, folder, servers }, work),
    close: async () => {
      await redis.stop();
      await postgres?.stop();
    },
  };
}

/** Calls `work` with functions that run actions of this contender on an empty store, then empties the store. */
async function withPlace({ name, folder, servers }, work) {
  const { module = name, store, place: settings = {} } = contenders[name];
  const { place, close } = await stores[store]({ name, folder, ...servers });
  const task = (action, options, onProgress) => ({
    module,
    place: { ...settings, ...place },
    action,
    options,
    onProgress,
  });
  try {
    return await work({
      run: (action, options) => runSide(task(action, options)),
      start: (action, options, onProgress) => startSide(task(action, options, onProgress)),
    });
  } finally {
    await close();
  }
}

/** Opens an empty store of each kind. */
const stores = {
  redis: async ({ redis }) => {
    await redis.flush();
    return { place: { port: redis.port }, close: () => redis.flush() };
  },
  postgres: async ({ postgres }) => {
    await postgres.recreate(database);
    return { place: { url: postgres.url(database) }, close: () => postgres.drop(database) };
  },
  sqlite: async ({ name, folder }) => {
    const own = mkdtempSync(join(folder, `${name}-`));
    return { place: { folder: own }, close: async () => rmSync(own, { recursive: true, force: true }) };
  },
};
