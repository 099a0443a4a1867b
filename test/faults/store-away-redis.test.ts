/** Redis away for several leases: stopped, so that connections stay and nothing answers, and killed and started again. */
import { it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { type FaultEnvironment, openFaultEnvironment } from './fault-environment.ts';
import { AWAY_MS, LEASE_MS, loseTheStore, STORE_AWAY_MS } from './store-away.ts';

describeWithRedis(`Redis away for ${AWAY_MS / 1_000} s`, () => {
  it(
    'stopped: nothing is lost, and workers stop or go on as they were told',
    async () => {
      await awayWith('Redis stopped', async (redis) => {
        process.kill(redis.pid, 'SIGSTOP');
        return async () => void process.kill(redis.pid, 'SIGCONT');
      });
    },
    STORE_AWAY_MS,
  );

  it(
    'killed and started again: nothing is lost, and workers stop or go on as they were told',
    async () => {
      await awayWith('Redis killed', async (redis) => {
        await redis.kill9();
        return () => redis.restart();
      });
    },
    STORE_AWAY_MS,
  );
});

type TakeAway = (redis: RedisServer) => Promise<() => Promise<void>>;

async function awayWith(name: string, takeAway: TakeAway): Promise<void> {
  const redis = await startRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.stop());
  const open = (namespace: string): Promise<FaultEnvironment> =>
    openFaultEnvironment({ address: redis.url, connect: { namespace }, settings: { lease: LEASE_MS } });
  // Both at once, each in a namespace of its own: it is one server, and it goes away once.
  const gone = once(() => takeAway(redis));
  const back = once(async () => (await gone())());
  const away = async () => {
    await gone();
    return back;
  };
  await loseTheStore([
    { name, environment: await open('stop'), onUnreachable: 'stop', takeAway: away },
    { name, environment: await open('continue'), onUnreachable: 'continue', takeAway: away },
  ]);
}

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | null = null;
  return () => (done ??= work());
}
