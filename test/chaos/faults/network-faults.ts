/** Faults between processes: lost and delayed answers, and times without a connection, in front of node and Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fate } from '../../support/cutting-proxy.ts';
import type { FaultKind } from './fault-kind.ts';

export const cutHttpAnswers: FaultKind = {
  name: 'cut-http-answers',
  effect: 'network',
  needs: [],
  inject: async ({ stage, random }) => {
    const [before, count] = [stage.httpProxy.cuts, random.between(1, 8)];
    stage.httpProxy.cutNext = count;
    await sleep(random.between(500, 2_000));
    stage.httpProxy.cutNext = 0;
    return { detail: `${stage.httpProxy.cuts - before} answers` };
  },
};

export const delayHttpAnswers: FaultKind = {
  name: 'delay-http-answers',
  effect: 'network',
  needs: [],
  inject: async ({ stage, random }) => {
    const ms = random.between(50, 700);
    stage.httpProxy.delayMs = ms;
    await sleep(random.between(500, 2_000));
    stage.httpProxy.delayMs = 0;
    return { detail: `${ms} ms` };
  },
};

export const disconnectHttp: FaultKind = {
  name: 'disconnect-http',
  effect: 'network',
  needs: [],
  inject: async ({ stage, random }) => {
    const ms = random.between(200, 3_000);
    stage.httpProxy.isDown = true;
    await sleep(ms);
    stage.httpProxy.isDown = false;
    return { detail: `${ms} ms` };
  },
};

const FATES: readonly Fate[] = ['drop', 'half-request', 'lose-reply', 'half-reply'];

/** Many cuts hit a call that is repeated once more; few let connections work meanwhile. */
const CUT_SHARES: readonly number[] = [0.02, 0.05, 0.2];

/** At random requests of random connections, before or after the server executed them. */
export const cutRedisReplies: FaultKind = {
  name: 'cut-redis-replies',
  effect: 'network',
  needs: ['redis'],
  inject: async ({ stage: { redisProxy }, random }) => {
    if (redisProxy === null) return null;
    const [before, share] = [redisProxy.cuts, random.pick(CUT_SHARES)];
    redisProxy.decide = () => (random.next() < share ? random.pick(FATES) : 'pass');
    await sleep(random.between(300, 1_500));
    redisProxy.decide = () => 'pass';
    return { detail: `${redisProxy.cuts - before} requests` };
  },
};

export const delayRedisReplies: FaultKind = {
  name: 'delay-redis-replies',
  effect: 'network',
  needs: ['redis'],
  inject: async ({ stage: { redisProxy }, random }) => {
    if (redisProxy === null) return null;
    const ms = random.between(20, 500);
    redisProxy.delayMs = ms;
    await sleep(random.between(500, 2_000));
    redisProxy.delayMs = 0;
    return { detail: `${ms} ms` };
  },
};

export const partitionRedis: FaultKind = {
  name: 'partition-redis',
  effect: 'network',
  needs: ['redis'],
  inject: async ({ stage: { redisProxy }, random }) => {
    if (redisProxy === null) return null;
    const [mode, ms] = [random.pick(['down', 'silent'] as const), random.between(300, 3_000)];
    redisProxy.mode = mode;
    await sleep(ms);
    redisProxy.mode = 'open';
    return { detail: `${mode} for ${ms} ms` };
  },
};
