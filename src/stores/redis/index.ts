/** The Redis store, as `longhaul/redis`. */

export { type ScriptName, scriptText } from './calls/scripts.ts';
export type { RedisStoreOptions, RedisTls } from './client/options.ts';
export { openRedisStore, type RedisStore } from './open-redis-store.ts';
