/** Events of a Redis store when the connection of the subscription is cut, or the server is unreachable. */
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { followTracked, track, untrack } from '../../src/core/job/tracked-jobs.ts';
import type { LonghaulError } from '../../src/core/ports/errors.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { type CuttingProxy, openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { printFigures, until } from './fault-environment.ts';

const RECEIVED_MS = 30_000;

describeWithRedis('a subscription to a Redis store', () => {
  let redis: RedisServer;
  let truth: Store;
  let jobs = 0;
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: 'no' });
    truth = await openRedisStore({ url: redis.url, namespace: 'subscription' });
  });
  afterAll(async () => {
    await truth.close();
    await redis.stop();
  });

  async function aStore(): Promise<{ proxy: CuttingProxy; store: Store }> {
    const proxy = await openCuttingProxy(redis.port);
    const store = await openRedisStore({ url: proxy.url, namespace: 'subscription' });
    onTestFinished(async () => {
      proxy.mode = 'open';
      await store.close();
      await proxy.close();
    });
    return { proxy, store };
  }

  /** Adds jobs until an event arrives. */
  const addUntil = (isReceived: () => boolean): Promise<true> =>
    until('an event arrives', RECEIVED_MS, async () => {
      jobs += 1;
      await truth.jobs.add([{ id: `added-${jobs}`, queue: 'q', data: '{}' }]);
      return isReceived() ? true : null;
    });

  it.each(['drop', 'lose-reply'] as const)('begins although its first command was cut off: %s', async (fate) => {
    const { proxy, store } = await aStore();
    proxy.decide = ({ command }) => (command === 'SUBSCRIBE' && proxy.cuts === 0 ? fate : 'pass');
    let events = 0;
    store.jobs.subscribe(() => (events += 1));
    await addUntil(() => events > 0);
    expect(proxy.cuts).toBe(1);
  });

  it('continues after the connection was lost', async () => {
    const { proxy, store } = await aStore();
    let events = 0;
    store.jobs.subscribe(() => (events += 1));
    await addUntil(() => events > 0);
    proxy.mode = 'down';
    proxy.mode = 'open';
    const before = events;
    await addUntil(() => events > before);
  });

  it('emits a gap event when it begins so late that calls no longer waited for it', async () => {
    const { proxy, store } = await aStore();
    proxy.mode = 'down';
    const received: string[] = [];
    store.jobs.subscribe((events) => received.push(...events.map(({ type }) => type)));
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    proxy.mode = 'open';
    await until('the gap event arrives', RECEIVED_MS, () => (received.includes('gap') ? true : null));
  });

  it('emits a gap event, and follows the jobs that were tracked meanwhile', async () => {
    const { proxy, store } = await aStore();
    await truth.jobs.add(['before', 'meanwhile'].map((id) => ({ id, queue: 'tracked', data: '{}' })));
    await track(truth, 'before');
    const received: string[] = [];
    const unsubscribe = await followTracked(store, (events) => {
      for (const { type, id } of events) received.push(`${type} ${id}`);
    });
    onTestFinished(unsubscribe);
    proxy.mode = 'down';
    await track(truth, 'meanwhile');
    await untrack(truth, 'before');
    proxy.mode = 'open';
    await until('the gap event arrives', RECEIVED_MS, () => (received.includes('gap ') ? true : null));
    await truth.jobs.cancel([{ id: 'before' }, { id: 'meanwhile' }]);
    await until('the event of the tracked job arrives', RECEIVED_MS, () =>
      received.includes('cancelled meanwhile') ? true : null,
    );
    expect(received).not.toContain('cancelled before');
  });

  it('blocks no call while the server is unreachable', async () => {
    const { proxy, store } = await aStore();
    proxy.mode = 'down';
    store.jobs.subscribe(() => undefined);
    const startedAt = performance.now();
    const error = await until('the call ends', RECEIVED_MS, () =>
      Promise.race([
        store.jobs.add([{ id: 'waits', queue: 'q', data: '{}' }]).then(
          () => null,
          (reason: LonghaulError) => reason,
        ),
        new Promise<null>((resolve) => setTimeout(resolve, 1_000, null)),
      ]),
    );
    printFigures('a call while a subscription cannot begin', { code: error.code, ms: performance.now() - startedAt });
    expect(error.code).toBe('store-unavailable');
  });
});
