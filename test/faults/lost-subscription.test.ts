/** What is heard of a Redis store when the connection that listens is cut off, or there is no way to the server yet. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { followTracked, track, untrack } from '../../src/core/job/tracked-jobs.ts';
import type { LonghaulError } from '../../src/core/ports/errors.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { printFigures, until } from './fault-environment.ts';

const HEARD_MS = 30_000;

describeWithRedis('listening to a Redis store', () => {
  let redis: RedisServer;
  let truth: Store;
  let jobs = 0;
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: 'no' });
    truth = await openRedisStore({ url: redis.url, namespace: 'heard' });
  });
  afterAll(async () => {
    await truth.close();
    await redis.stop();
  });

  async function aStore(): Promise<{ proxy: CuttingProxy; store: Store }> {
    const proxy = await openCuttingProxy(redis.port);
    const store = await openRedisStore({ url: proxy.url, namespace: 'heard' });
    onTestFinished(async () => {
      proxy.mode = 'open';
      await store.close();
      await proxy.close();
    });
    return { proxy, store };
  }

  /** Somebody adds jobs until one is heard of. */
  const speakUntil = (isHeard: () => boolean): Promise<true> =>
    until('an event is heard', HEARD_MS, async () => {
      jobs += 1;
      await truth.jobs.add([{ id: `spoken-${jobs}`, queue: 'q', data: '{}' }]);
      return isHeard() ? true : null;
    });

  it.each(['drop', 'lose-reply'] as const)(
    'begins in the end, though its first words were cut off: %s',
    async (fate) => {
      const { proxy, store } = await aStore();
      proxy.decide = ({ command }) => (command === 'SUBSCRIBE' && proxy.cuts === 0 ? fate : 'pass');
      let events = 0;
      store.jobs.subscribe(() => (events += 1));
      await speakUntil(() => events > 0);
      expect(proxy.cuts).toBe(1);
    },
  );

  it('goes on after the connection was lost', async () => {
    const { proxy, store } = await aStore();
    let events = 0;
    store.jobs.subscribe(() => (events += 1));
    await speakUntil(() => events > 0);
    proxy.mode = 'down';
    proxy.mode = 'open';
    const before = events;
    await speakUntil(() => events > before);
  });

  it('says that events may be missing, and follows the jobs that were tracked meanwhile', async () => {
    const { proxy, store } = await aStore();
    await truth.jobs.add(['before', 'meanwhile'].map((id) => ({ id, queue: 'tracked', data: '{}' })));
    await track(truth, 'before');
    const heard: string[] = [];
    const unsubscribe = await followTracked(store, (events) => {
      for (const { type, id } of events) heard.push(`${type} ${id}`);
    });
    onTestFinished(unsubscribe);
    proxy.mode = 'down';
    await track(truth, 'meanwhile');
    await untrack(truth, 'before');
    proxy.mode = 'open';
    await until('the gap is told', HEARD_MS, () => (heard.includes('gap ') ? true : null));
    await truth.jobs.cancel([{ id: 'before' }, { id: 'meanwhile' }]);
    await until('the tracked job is heard of', HEARD_MS, () => (heard.includes('cancelled meanwhile') ? true : null));
    expect(heard).not.toContain('cancelled before');
  });

  it('keeps no call waiting while there is no way to the server', async () => {
    const { proxy, store } = await aStore();
    proxy.mode = 'down';
    store.jobs.subscribe(() => undefined);
    const startedAt = performance.now();
    const error = await until('the call ends', HEARD_MS, () =>
      Promise.race([
        store.jobs.add([{ id: 'waits', queue: 'q', data: '{}' }]).then(
          () => null,
          (reason: LonghaulError) => reason,
        ),
        new Promise<null>((resolve) => setTimeout(resolve, 1_000, null)),
      ]),
    );
    printFigures('a call while listening cannot begin', { code: error.code, ms: performance.now() - startedAt });
    expect(error.code).toBe('store-unavailable');
  });
});
