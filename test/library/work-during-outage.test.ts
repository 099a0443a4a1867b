/** `work()` while the store does not answer: it waits, emits an event, and starts by itself. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { LonghaulError } from '../../src/core/ports/errors.ts';
import type { Store } from '../../src/core/ports/store.ts';
import { openConnection } from '../../src/library/connect.ts';
import { connect } from '../../src/library/index.ts';
import type { WorkEvent } from '../../src/library/work.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { ask, describeWithRedis, startRedis } from '../support/redis-server.ts';

describeWithRedis('work() while Redis is down', () => {
  it('waits without an unhandled rejection, emits store-away, and starts when the server answers', async () => {
    const server = await startRedis({ appendfsync: 'always' });
    onTestFinished(() => server.stop());
    const longhaul = await connect(server.url);
    onTestFinished(() => longhaul.close());
    const queue = longhaul.queue<number, number>('q');
    const { id } = await queue.add(21);
    await server.kill9();
    const events: WorkEvent[] = [];
    // `ready` is not awaited: a rejection would be unhandled, which fails the run of this file.
    const work = queue.work(async ({ data }) => data * 2, { onEvent: (event) => events.push(event) });
    await expect.poll(() => events.map(({ type }) => type)).toContain('store-away');
    await server.restart();
    await expect.poll(() => events.map(({ type }) => type), { timeout: 20_000 }).toContain('ended');
    await work.ready;
    expect(events.map(({ type }) => type).indexOf('store-back')).toBeGreaterThan(0);
    expect(await longhaul.find(id)).toMatchObject({ state: 'done', result: 42, attempt: 1 });
  });

  it('waits for a password that is not accepted, and stops while it waits', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    expect(await ask(server.port, 'ACL SETUSER worker on >secret ~* &* +@all')).toBe('OK');
    const longhaul = await connect(server.url.replace('redis://', 'redis://worker:secret@'));
    onTestFinished(() => longhaul.close());
    await ask(server.port, 'ACL SETUSER worker resetpass >other');
    await ask(server.port, 'CLIENT KILL USER worker');
    const events: WorkEvent[] = [];
    const work = longhaul.queue('q').work(async () => null, { onEvent: (event) => events.push(event) });
    await expect.poll(() => events.map(({ type }) => type)).toContain('store-away');
    await work.stop();
    await work.ready;
    expect(events.map(({ type }) => type)).not.toContain('store-back');
  });
});

/** A memory store whose records cannot be read as long as there is an error. */
function storeWith(errors: { next: Error | null }): Store {
  const store = openMemoryStore();
  const get: Store['records']['get'] = async (...args) => {
    if (errors.next !== null) throw errors.next;
    return await store.records.get(...args);
  };
  return { ...store, records: { ...store.records, get } };
}

describe('ready', () => {
  it.each(['store-unavailable', 'outcome-unknown', 'store-full', 'data-corrupt', 'refused'] as const)(
    'waits out %s',
    async (code) => {
      const errors: { next: Error | null } = { next: new LonghaulError(code, 'not now') };
      const { longhaul } = openConnection(storeWith(errors), null);
      onTestFinished(() => longhaul.close());
      const events: WorkEvent[] = [];
      const queue = longhaul.queue<number, number>('q');
      const work = queue.work(async ({ data }) => data, { onEvent: (event) => events.push(event) });
      const aways = () => events.filter(({ type }) => type === 'store-away');
      await expect.poll(aways).toMatchObject([{ error: { code } }]);
      errors.next = null;
      await work.ready;
      expect(await queue.run(1)).toBe(1);
    },
  );

  it.each([
    new LonghaulError('bad-input', 'a setting is wrong'),
    new LonghaulError('store-incompatible', 'the store is of another version'),
    new LonghaulError('store-closed', 'the store is closed'),
    new TypeError('a bug'),
  ])('rejects with what cannot heal: %s', async (error) => {
    const { longhaul } = openConnection(storeWith({ next: error }), null);
    onTestFinished(() => longhaul.close());
    await expect(longhaul.queue('q').work(async () => null).ready).rejects.toBe(error);
  });
});
