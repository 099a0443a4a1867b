/** What is looked at when a store is opened, against real servers that are set up wrongly on purpose. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  describeWithRedis,
  type RedisOptions,
  type RedisServer,
  startRedis,
} from '../../../test/support/redis-server.ts';
import type { RedisStoreOptions } from './client/options.ts';
import { checkFacts } from './client/start-checks.ts';
import { openRedisStore } from './open-redis-store.ts';
import type * as OpenStore from './open-store.ts';

async function aServer(options: RedisOptions): Promise<RedisServer> {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

async function noticesOf(options: RedisStoreOptions): Promise<string> {
  const store = await openRedisStore(options);
  await store.close();
  return store.notices.join('\n');
}

async function command(url: string, ...lines: string[]): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  try {
    for (const line of lines) await client.sendCommand(line.split(' '));
  } finally {
    client.destroy();
  }
}

describeWithRedis('opening a Redis store', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  it('says that everysec may lose what was confirmed, and says nothing of always', async () => {
    expect(await noticesOf({ url: server.url })).toContain('appendfsync is everysec');
    const careful = await aServer({ appendfsync: 'always' });
    expect(await noticesOf({ url: careful.url })).not.toContain('appendfsync');
  });

  it('says that without an append-only file a crash loses jobs', async () => {
    const forgetful = await aServer({ config: { appendonly: 'no' } });
    expect(await noticesOf({ url: forgetful.url })).toContain('append-only file is off');
  });

  it('refuses a server that would delete jobs when memory is short', async () => {
    const evicting = await aServer({ config: { maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' } });
    await expect(openRedisStore({ url: evicting.url })).rejects.toMatchObject({ code: 'store-incompatible' });
    const warned = await aServer({ config: { 'maxmemory-policy': 'allkeys-lru' } });
    expect(await noticesOf({ url: warned.url })).toContain('maxmemory-policy is allkeys-lru');
  });

  it('refuses a namespace of another schema, and leaves it alone', async () => {
    await command(server.url, 'HSET {theirs} schema 999');
    await expect(openRedisStore({ url: server.url, namespace: 'theirs' })).rejects.toMatchObject({
      code: 'store-incompatible',
    });
  });

  it('refuses a namespace without a store where none may be created, and writes nothing', async () => {
    const opening = { url: server.url, namespace: 'nothing', create: false };
    const message = expect.stringMatching(/namespace nothing of 127\.0\.0\.1:\d+ holds no store/) as string;
    // The second time as well: the first one has written nothing that looks like a store.
    for (const _time of [1, 2])
      await expect(openRedisStore(opening)).rejects.toMatchObject({ code: 'store-incompatible', message });
    await (await openRedisStore({ ...opening, create: true })).close();
    await (await openRedisStore(opening)).close();
  });

  it('says so when CONFIG or INFO is forbidden', async () => {
    const url = server.url.replace('redis://', 'redis://blind:secret@');
    await command(server.url, 'ACL SETUSER blind on >secret ~* &* +@all -config');
    expect(await noticesOf({ url })).toContain('CONFIG is forbidden');
    await command(server.url, 'ACL SETUSER blind -info');
    expect(await noticesOf({ url })).toContain('INFO is forbidden');
  });

  it('fails at once and by name when there is no server, or no right to it', async () => {
    const away = { url: 'redis://127.0.0.1:1', connectTimeoutMs: 1_000 };
    await expect(openRedisStore(away)).rejects.toMatchObject({ code: 'store-unavailable' });
    const unknownUser = { url: server.url.replace('redis://', 'redis://unknown:wrong@') };
    await expect(openRedisStore(unknownUser)).rejects.toMatchObject({ code: 'store-unavailable' });
  });

  it('can be closed twice, and a call after that is refused', async () => {
    const store = await openRedisStore({ url: server.url });
    await Promise.all([store.close(), store.close()]);
    await store.close();
    await expect(store.jobs.count()).rejects.toMatchObject({ code: 'store-closed' });
    await expect(store.jobs.add([{ id: 'x', queue: 'q', data: '1' }])).rejects.toMatchObject({ code: 'store-closed' });
  });

  it('answers what is under way before it closes', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'closing' });
    const added = store.jobs.add([{ id: 'last', queue: 'q', data: '1' }]);
    await store.close();
    expect(await added).toMatchObject([{ ok: true, outcome: 'added' }]);
  });

  it('describes itself so that another thread can open it from a copy', async () => {
    const store = await openRedisStore({ url: server.url, namespace: 'twice' });
    onTestFinished(() => store.close());
    const description = store.describe();
    const options: unknown = structuredClone(description.options);
    const { openStore } = (await import(description.module)) as typeof OpenStore;
    const other = await openStore(options);
    onTestFinished(() => other.close());
    await store.jobs.add([{ id: 'a', queue: 'q', data: '1' }]);
    expect(await other.jobs.find(['a'])).toMatchObject([{ id: 'a' }]);
    expect(description.transfer).toEqual([]);
  });
});

describe('the version of a server', () => {
  it.each(['redis_version:6.0.16', 'redis_version:5.0.7', 'redis_version:6.1.9'])('is too old: %s', (facts) => {
    expect(() => checkFacts(`${facts}\r\n`)).toThrow(expect.objectContaining({ code: 'store-incompatible' }));
  });

  it.each([
    ['redis_version:6.2.19', true],
    ['redis_version:6.2.20', false],
    ['redis_version:7.0.15', true],
    ['redis_version:7.2.10', true],
    ['redis_version:7.4.6', false],
    ['redis_version:8.2.2', false],
    ['redis_version:9.0.0', false],
    ['redis_version:7.2.4\r\nvalkey_version:8.0.5', true],
    ['redis_version:7.2.4\r\nvalkey_version:8.1.4', false],
  ])('%s: a known hole is told of (%s)', (facts, isTold) => {
    expect(checkFacts(`${facts}\r\n`).some((notice) => notice.includes('CVE-2025-49844'))).toBe(isTold);
  });
});
