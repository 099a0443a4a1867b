/** The Redis store, as `longhaul/redis`. */
export { openRedisStore, type RedisStore } from './open-redis-store.ts';
export type { RedisStoreOptions, RedisTls } from './options.ts';
export { type ScriptName, scriptText } from './scripts.ts';
