/** Redis is unavailable for several leases: stopped, so that connections stay open without answers, or killed and restarted. */
import { it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { type FaultEnvironment, openFaultEnvironment } from './fault-environment.ts';
import { LEASE_MS, OUTAGE_MS, STORE_OUTAGE_MS, surviveOutage } from './store-outage.ts';

describeWithRedis(`an outage of Redis for ${OUTAGE_MS / 1_000} s`, () => {
  it(
    'by a stop loses no job, and workers follow onUnreachable',
    async () => {
      await outageWith('Redis stopped', async (redis) => {
        process.kill(redis.pid, 'SIGSTOP');
        return async () => void process.kill(redis.pid, 'SIGCONT');
      });
    },
    STORE_OUTAGE_MS,
  );

  it(
    'by a kill and a restart loses no job, and workers follow onUnreachable',
    async () => {
      await outageWith('Redis killed', async (redis) => {
        await redis.kill9();
        return () => redis.restart();
      });
    },
    STORE_OUTAGE_MS,
  );
});

type Disconnect = (redis: RedisServer) => Promise<() => Promise<void>>;

async function outageWith(name: string, disconnect: Disconnect): Promise<void> {
  const redis = await startRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.stop());
  const open = (namespace: string): Promise<FaultEnvironment> =>
    openFaultEnvironment({ address: redis.url, connect: { namespace }, settings: { lease: LEASE_MS } });
  // Both runs share one server and one outage, each in a namespace of its own.
  const stop = once(() => disconnect(redis));
  const reconnect = once(async () => (await stop())());
  const interrupt = async () => {
    await stop();
    return reconnect;
  };
  await surviveOutage([
    { name, environment: await open('stop'), onUnreachable: 'stop', disconnect: interrupt },
    { name, environment: await open('continue'), onUnreachable: 'continue', disconnect: interrupt },
  ]);
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => (done ??= work());
}
