/** Tests the proxy itself: it forwards messages unchanged and cuts the chosen ones. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type CuttingProxy, endOf, type Fate, openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';

describeWithRedis('the cutting proxy', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis({ appendfsync: 'no' });
  });
  afterAll(() => redis.stop());

  async function aClient(url: string) {
    const client = createClient({ url, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    await client.connect();
    onTestFinished(() => client.destroy());
    return client;
  }

  async function aProxy(): Promise<CuttingProxy> {
    const proxy = await openCuttingProxy(redis.port);
    onTestFinished(() => proxy.close());
    return proxy;
  }

  it('forwards messages unchanged: many at once, large, small and delayed ones', async () => {
    const proxy = await aProxy();
    const client = await aClient(proxy.url);
    const large = 'x\r\n$3\r\n'.repeat(100_000);
    const values = Array.from({ length: 500 }, (_, place) => `${place}`);
    await Promise.all(values.map((value) => client.set(`k${value}`, value)));
    await client.set('large', large);
    proxy.delayMs = 20;
    expect(await client.mGet(values.map((value) => `k${value}`))).toEqual(values);
    expect(await client.get('large')).toBe(large);
    expect(await client.get('no such key')).toBeNull();
    expect(proxy.cuts).toBe(0);
  });

  it.each<[Fate, string | null]>([
    ['drop', null],
    ['half-request', null],
    ['lose-reply', 'v'],
    ['half-reply', 'v'],
  ])('%s: the caller gets an error, and the server has %s', async (fate, value) => {
    const proxy = await aProxy();
    const client = await aClient(proxy.url);
    const key = `cut-${fate}`;
    proxy.decide = ({ command }) => (command === 'SET' ? fate : 'pass');
    await expect(client.set(key, 'v')).rejects.toBeInstanceOf(Error);
    expect(proxy.cuts).toBe(1);
    expect(await (await aClient(redis.url)).get(key)).toBe(value);
  });

  it('holds messages back while silent, and closes connections when down', async () => {
    const proxy = await aProxy();
    const client = await aClient(proxy.url);
    proxy.mode = 'silent';
    const reply = client.ping();
    expect(await (await aClient(redis.url)).ping()).toBe('PONG');
    proxy.mode = 'open';
    expect(await reply).toBe('PONG');
    proxy.mode = 'down';
    await expect(client.ping()).rejects.toBeInstanceOf(Error);
    await expect(aClient(proxy.url)).rejects.toBeInstanceOf(Error);
  });

  it('finds the end of each message', () => {
    const messages = [
      '+OK\r\n',
      '$-1\r\n',
      '$0\r\n\r\n',
      '*-1\r\n',
      '*2\r\n:1\r\n*1\r\n$2\r\n\r\n\r\n',
      '%1\r\n+a\r\n_\r\n',
      '>1\r\n+m\r\n',
      ',1.5\r\n',
      '#t\r\n',
    ];
    for (const message of messages) {
      const whole = Buffer.from(`${message}+next\r\n`);
      const ends = Array.from({ length: message.length }, (_, cut) => endOf(whole.subarray(0, cut)));
      expect([message, endOf(whole), ...ends]).toEqual([message, message.length, ...ends.map(() => 0)]);
    }
  });
});
