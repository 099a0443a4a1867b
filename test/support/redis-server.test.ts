import { existsSync } from 'node:fs';
import { createClient, createCluster } from '@redis/client';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, type RedisOptions, startRedis } from './redis-server.ts';

async function aServer(options: RedisOptions = {}) {
  const server = await startRedis(options);
  onTestFinished(() => server.stop());
  return server;
}

async function openClient(url: string) {
  const client = createClient({ url });
  client.on('error', () => undefined);
  await client.connect();
  onTestFinished(() => client.destroy());
  return client;
}

describeWithRedis('a Redis server of a test', () => {
  it('answers on its own port and is gone, with its folder, after stop', async () => {
    const server = await aServer();
    expect(await (await openClient(server.url)).ping()).toBe('PONG');
    await server.stop();
    await server.stop();
    expect(existsSync(server.dir)).toBe(false);
    expect(() => process.kill(server.pid, 0)).toThrow('ESRCH');
  });

  it('keeps what was fsynced through kill -9 and a restart on the same port', async () => {
    const server = await aServer({ appendfsync: 'always' });
    await (await openClient(server.url)).set('a', '1');
    const { port, pid } = server;
    await server.kill9();
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    expect(await (await openClient(server.url)).get('a')).toBe('1');
    await server.restart();
    expect(await (await openClient(server.url)).get('a')).toBe('1');
  });

  it('accepts more settings', async () => {
    const server = await aServer({ appendfsync: 'no', config: { 'maxmemory-policy': 'allkeys-lru' } });
    const client = await openClient(server.url);
    expect(await client.configGet('maxmemory-policy')).toEqual({ 'maxmemory-policy': 'allkeys-lru' });
    expect(await client.configGet('appendfsync')).toEqual({ appendfsync: 'no' });
  });

  it('is a cluster of one node, even after a restart', async () => {
    const server = await aServer({ cluster: true });
    await server.restart();
    const cluster = createCluster({ rootNodes: [{ url: server.url }] });
    cluster.on('error', () => undefined);
    await cluster.connect();
    onTestFinished(() => cluster.destroy());
    await cluster.set('{x}a', '1');
    expect(await cluster.get('{x}a')).toBe('1');
  });

  it('reports its log when it cannot start', async () => {
    await expect(startRedis({ config: { 'no-such-setting': 'yes' } })).rejects.toThrow('did not start');
  });
});
