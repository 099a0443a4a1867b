/** The worker's promises over a real Redis server. Outage: the server is killed; its file has everything. */
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { type Place, workerSuite } from './worker-suite.ts';

async function openRedisPlace(): Promise<Place> {
  const server = await startRedis({ appendfsync: 'always' });
  const store = await openRedisStore({ url: server.url });
  return {
    address: server.url,
    store,
    takeAway: () => server.kill9(),
    restore: () => server.restart(),
    close: async () => {
      await store.close();
      await server.stop();
    },
  };
}

describeWithRedis('over redis', () => {
  workerSuite(openRedisPlace);
});
