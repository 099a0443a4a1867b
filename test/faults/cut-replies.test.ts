/**
 * Each hot call over Redis, cut off at every message it sends, in every way, and then repeated. It must have one outcome,
 * and the error must be correct: `store-unavailable` only if nothing was done.
 */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ErrorCode, LonghaulError } from '../../src/core/ports/errors.ts';
import type { JobStore } from '../../src/core/ports/job-store.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { type CuttingProxy, type Fate, openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { CUT_CALLS, type CutCall } from './cut-calls.ts';
import { printFigures, until } from './fault-environment.ts';

const FATES = ['drop', 'half-request', 'lose-reply', 'half-reply'] as const;
const MAX_MESSAGES = 10;
const AGAIN_MS = 10_000;
const SILENCE_MS = 1_000;

describeWithRedis('a call over Redis that is cut off', () => {
  let redis: RedisServer;
  let proxy: CuttingProxy;
  let truth: Store;
  let cutStore: Store;
  let names = 0;
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: 'no' });
    proxy = await openCuttingProxy(redis.port);
    truth = await openRedisStore({ url: redis.url, namespace: 'cut' });
    cutStore = await openRedisStore({ url: proxy.url, namespace: 'cut', commandTimeoutMs: SILENCE_MS });
  });
  afterAll(async () => {
    await Promise.all([truth.close(), cutStore.close()]);
    await proxy.close();
    await redis.stop();
  });

  beforeEach(() => {
    proxy.mode = 'open';
    proxy.decide = () => 'pass';
  });

  const makeReady = (kind: string): Promise<CutCall> => {
    names += 1;
    return CUT_CALLS[kind]?.(truth.jobs, `${kind}-${names}`) ?? Promise.reject(new Error(`no such call: ${kind}`));
  };

  it.each(Object.keys(CUT_CALLS))('has one outcome when it is repeated: %s', async (kind) => {
    const counts = new Map<string, number>();
    for (const fate of FATES) {
      for (const isFlushed of [false, true]) {
        for (let place = 1; place <= MAX_MESSAGES; place++) {
          if (isFlushed) await flushScripts(redis.url);
          const code = await cutAt(await makeReady(kind), fate, place);
          if (code === null) break;
          const key = `${fate}:${code}`;
          counts.set(key, (counts.get(key) ?? 0) + 1);
        }
      }
    }
    printFigures(`cut at every message: ${kind}`, Object.fromEntries(counts));
    for (const fate of FATES) expect([...counts.keys()].join(' ')).toContain(fate);
  });

  /** Cuts the call at its n-th message and repeats it. Returns null if the call has fewer messages. */
  async function cutAt(call: CutCall, fate: Fate, place: number): Promise<ErrorCode | null> {
    const isDoneBy = fate === 'lose-reply' || fate === 'half-reply';
    let seen = 0;
    proxy.decide = () => {
      seen += 1;
      return seen === place ? fate : 'pass';
    };
    const error = await failureOf(call.call(cutStore.jobs));
    const wasCut = seen >= place;
    proxy.decide = () => 'pass';
    if (!wasCut) {
      expect(error).toBeNull();
      return null;
    }
    const isDone = await call.isDone();
    if (error?.code === 'store-unavailable') expect(isDone).toBe(false);
    else expect(error?.code).toBe('outcome-unknown');
    if (isDone) expect(isDoneBy).toBe(true);
    await call.verify(await again(call, cutStore.jobs));
    return error?.code ?? null;
  }

  it('has one outcome among other calls on the same connection', async () => {
    const calls = await Promise.all(Array.from({ length: 20 }, (_, place) => makeReady(kindAt(place))));
    let unknown = 0;
    for (const [place, fate] of FATES.entries()) {
      const some = calls.slice(place * 5, place * 5 + 5);
      const from = proxy.requests;
      proxy.decide = ({ number }) => (number === from + 3 ? fate : 'pass');
      const errors = await Promise.all(some.map((call) => failureOf(call.call(cutStore.jobs))));
      proxy.decide = () => 'pass';
      unknown += errors.filter((error) => error?.code === 'outcome-unknown').length;
      for (const call of some) await call.verify(await again(call, cutStore.jobs));
    }
    printFigures('cut among others in flight', { calls: calls.length, cuts: FATES.length, unknown });
    expect(unknown).toBeGreaterThan(0);
  });

  it('fails with store-unavailable while the server is unreachable, and nothing was done', async () => {
    const calls = await Promise.all(Object.keys(CUT_CALLS).map(makeReady));
    proxy.mode = 'down';
    const startedAt = performance.now();
    await until('the calls fail with store-unavailable', AGAIN_MS, async () => {
      const errors = await Promise.all(calls.map((call) => failureOf(call.call(cutStore.jobs))));
      return errors.every((error) => error?.code === 'store-unavailable') ? true : null;
    });
    const ms = performance.now() - startedAt;
    for (const call of calls) expect(await call.isDone()).toBe(false);
    proxy.mode = 'open';
    for (const call of calls) await call.verify(await again(call, cutStore.jobs));
    printFigures('unreachable server', { calls: calls.length, 'store-unavailable': calls.length, ms });
  });

  it('fails with outcome-unknown when the server is silent, and has one outcome although the first call arrives late', async () => {
    const calls = await Promise.all(Object.keys(CUT_CALLS).map(makeReady));
    proxy.mode = 'silent';
    const startedAt = performance.now();
    const errors = await Promise.all(calls.map((call) => failureOf(call.call(cutStore.jobs))));
    const ms = performance.now() - startedAt;
    expect(errors.map((error) => error?.code)).toEqual(calls.map(() => 'outcome-unknown'));
    proxy.mode = 'open';
    for (const call of calls) await call.verify(await again(call, cutStore.jobs));
    expect(ms).toBeLessThan(AGAIN_MS);
    printFigures('a silent server', { calls: calls.length, 'outcome-unknown': errors.length, ms });
  });
});

const kindAt = (place: number): string => Object.keys(CUT_CALLS)[place % 4] ?? 'add';

async function failureOf(call: Promise<unknown>): Promise<LonghaulError | null> {
  try {
    await call;
    return null;
  } catch (error) {
    return error as LonghaulError;
  }
}

/** While the client reconnects, calls may fail with `store-unavailable`; any other error fails the test. */
function again(call: CutCall, jobs: JobStore): Promise<unknown> {
  return until('the repeated call is answered', AGAIN_MS, async () => {
    try {
      return { answer: await call.call(jobs) };
    } catch (error) {
      if ((error as LonghaulError).code !== 'store-unavailable') throw error;
      return null;
    }
  }).then(({ answer }) => answer);
}

/** Flushes the scripts, as a restart of the server does: the next call must send the whole script. */
async function flushScripts(url: string): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  await client.scriptFlush();
  client.destroy();
}
