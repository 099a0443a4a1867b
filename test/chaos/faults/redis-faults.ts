/** Faults of the Redis server: restarts, no memory, no rights. It writes each change to disk before it answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ask } from '../../support/redis-process.ts';
import type { FaultContext, FaultKind, Injected } from './fault-kind.ts';

export const restartRedis: FaultKind = {
  name: 'restart-redis',
  effect: 'store',
  needs: ['redis'],
  inject: (context) =>
    withServer(context, async (redis) => {
      const isKilled = context.random.next() < 0.7;
      if (isKilled) await redis.kill9();
      await sleep(context.random.between(0, 1_000));
      await redis.restart();
      return { detail: isKilled ? 'kill -9' : 'in good order' };
    }),
};

export const redisWithoutMemory: FaultKind = {
  name: 'redis-without-memory',
  effect: 'network',
  needs: ['redis'],
  inject: (context) =>
    withServer(context, async ({ port }) => {
      const ms = context.random.between(200, 2_000);
      await ask(port, 'CONFIG SET maxmemory 1');
      await sleep(ms);
      await ask(port, 'CONFIG SET maxmemory 0');
      return { detail: `${ms} ms` };
    }),
};

export const redisWithoutRights: FaultKind = {
  name: 'redis-without-rights',
  effect: 'network',
  needs: ['redis'],
  inject: (context) =>
    withServer(context, async ({ port }) => {
      const ms = context.random.between(200, 2_000);
      const commands = context.random.pick(['-@write', '-evalsha -eval', '-@scripting']);
      await ask(port, `ACL SETUSER default ${commands}`);
      await sleep(ms);
      await ask(port, 'ACL SETUSER default +@all');
      return { detail: `${commands} for ${ms} ms` };
    }),
};

type Server = NonNullable<FaultContext['stage']['redis']>;

/** One fault of the server at a time: a restart would undo the others. */
async function withServer(
  { stage }: FaultContext,
  hit: (redis: Server) => Promise<Injected>,
): Promise<Injected | null> {
  const { redis } = stage;
  if (redis === null || stage.isRedisTaken) return null;
  stage.isRedisTaken = true;
  try {
    return await hit(redis);
  } finally {
    stage.isRedisTaken = false;
  }
}
