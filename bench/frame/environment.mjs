/**
 * Where the contenders meet: one Redis server for all who need one, and a folder on the same disk for the others.
 *
 * Each measurement gets an empty place. Nothing of the arena is left behind, whatever ends the run.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { contenders } from './contenders.mjs';
import { startRedis } from './redis-server.mjs';
import { endSides, runSide, startSide } from './run-side.mjs';

export async function openArena({ redisPath, parent }) {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'run-'));
  const redis = await startRedis({ path: redisPath, folder: join(folder, 'redis') });
  const leave = () => {
    endSides();
    redis.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', leave);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(130));
  return {
    redis,
    folder,
    withPlace: (name, work) => withPlace({ name, folder, redis }, work),
    close: () => redis.stop(),
  };
}

/** Calls `work` with a way to run actions of this contender in one empty place, then empties it. */
async function withPlace({ name, folder, redis }, work) {
  const { module = name, store, place: settings = {} } = contenders[name];
  const isRedis = store === 'redis';
  const place = isRedis ? { port: redis.port } : { folder: mkdtempSync(join(folder, `${name}-`)), ...settings };
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
