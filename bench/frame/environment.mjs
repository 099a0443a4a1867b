/**
 * The environment of a run: one Redis server for the contenders that need one, and a directory on the same disk for the
 * others. Each measurement starts empty. Everything is removed, however the run ends.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contenders } from './contenders.mjs';
import { startRedis } from './redis-server.mjs';
import { endSides, runSide, startSide } from './run-side.mjs';

export async function openEnvironment({ redisPath, parent }) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  const redis = await startRedis({ path: redisPath, folder: join(folder, 'redis') });
  const cleanUp = () => {
    endSides();
    redis.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  return {
    redis,
    folder,
    withPlace: (name, work) => withPlace({ name, folder, redis }, work),
    close: () => redis.stop(),
  };
}

/** Calls `work` with functions that run actions of this contender on an empty store, then empties the store. */
async function withPlace({ name, folder, redis }, work) {
  const { module = name, store, place: settings = {} } = contenders[name];
  const isRedis = store === 'redis';
  const place = {
    ...settings,
    ...(isRedis ? { port: redis.port } : { folder: mkdtempSync(join(folder, `${name}-`)) }),
  };
  if (isRedis) await redis.flush();
  const task = (action, options) => ({ module, place, action, options });
  try {
    return await work({
      run: (action, options) => runSide(task(action, options)),
      start: (action, options) => startSide(task(action, options)),
    });
  } finally {
    if (isRedis) await redis.flush();
    else rmSync(place.folder, { recursive: true, force: true });
  }
}
