/** Opens fresh Redis stores for tests: one server for each test file, a namespace for each store. */
import { afterAll, beforeAll } from 'vitest';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { type RedisOptions, type RedisServer, startRedis } from '../support/redis-server.ts';
import type { OpenStore } from './contract.ts';

/** Call it where the suite is described. */
export function freshRedis(options: RedisOptions = {}): OpenStore {
  let server: RedisServer;
  let stores = 0;
  beforeAll(async () => {
    server = await startRedis(options);
  });
  afterAll(() => server.stop());
  return ({ clock }) => {
    stores += 1;
    return openRedisStore({ url: server.url, namespace: `store-${stores}`, clock });
  };
}
