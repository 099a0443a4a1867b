/** A real Redis or Valkey server for one test file. A suite that needs one uses `describeWithRedis`. */
import { describe } from 'vitest';
import { hasRedis } from './redis-process.ts';

export { ask, findPort, hasRedis, type RedisOptions, type RedisServer, startRedis } from './redis-process.ts';

/** Skips the suite if no server is available; skipped tests are counted. */
export const describeWithRedis = describe.skipIf(!hasRedis);
