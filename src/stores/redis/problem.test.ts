/** What an error answer of the server means to a caller: real servers that refuse for every reason they can be given. */
import { ErrorReply } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { loadLibrary } from './client-library.ts';
import { openRedisStore, type RedisStore } from './open-redis-store.ts';
import { NOT_BEGUN, toProblem } from './problem.ts';

const aJob = (id: string) => ({ id, queue: 'q', data: '{}' });

describeWithRedis('a server that answers with an error', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  async function open(namespace: string): Promise<RedisStore> {
    const store = await openRedisStore({ url: server.url, namespace });
    onTestFinished(() => store.close());
    return store;
  }

  /** Refused as long as the setting stands, by name, with nothing written; taken when it is gone. */
  async function refusedUnder(setting: string, usual: string, code: string): Promise<void> {
    const [store, namespace] = [await open(setting), setting];
    await ask(server.port, `CONFIG SET ${setting} 1`);
    try {
      await expect(store.jobs.add([aJob('a')])).rejects.toMatchObject({ code });
      expect(await ask(server.port, `EXISTS {${namespace}}j`)).toBe('0');
      expect(await store.jobs.find(['a'])).toEqual([null]);
    } finally {
      await ask(server.port, `CONFIG SET ${setting} ${usual}`);
    }
    expect(await store.jobs.add([aJob('a')])).toMatchObject([{ outcome: 'added' }]);
  }

  it('is full (OOM): nothing was written', () => refusedUnder('maxmemory', '0', 'store-full'));

  it('has too few replicas by its own setting (NOREPLICAS): nothing was written', () =>
    refusedUnder('min-replicas-to-write', '0', 'store-unavailable'));

  it('has something else under a key (WRONGTYPE): that is no lost reply, and is not repeated', async () => {
    const store = await open('wrong');
    await ask(server.port, 'SET {wrong}j text');
    await expect(store.jobs.add([aJob('a')])).rejects.toMatchObject({ code: 'data-corrupt' });
  });

  it('became a replica (READONLY): nothing was written, and another primary is looked for', async () => {
    const other = await startRedis();
    onTestFinished(() => other.stop());
    const store = await openRedisStore({ url: other.url });
    onTestFinished(() => store.close());
    await ask(other.port, `REPLICAOF 127.0.0.1 ${server.port}`);
    await expect(store.jobs.add([aJob('a')])).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect
      .poll(() => store.jobs.count().catch((error: Error) => error.message), { timeout: 10_000 })
      .toContain('is a replica of 127.0.0.1:');
    await ask(other.port, 'REPLICAOF NO ONE');
    await expect.poll(() => store.jobs.count().catch(() => null), { timeout: 10_000 }).toEqual([]);
  });

  it('is a replica from the start: it is said whose, and nothing is opened', async () => {
    const replica = await startRedis({ config: { replicaof: `127.0.0.1 ${server.port}` } });
    onTestFinished(() => replica.stop());
    await expect(openRedisStore({ url: replica.url })).rejects.toMatchObject({
      code: 'store-unavailable',
      message: expect.stringContaining(`is a replica of 127.0.0.1:${server.port}`) as string,
    });
  });
});

describe('the words of error answers', () => {
  it.each(Object.entries(NOT_BEGUN))('%s is %s, also from within a script', async (word, code) => {
    const library = await loadLibrary();
    const said = [`${word} some words`, `ERR Error running script (call to f_1): @user_script: 9: -${word} some words`];
    for (const message of said) expect(toProblem(new ErrorReply(message), library, 'change')).toMatchObject({ code });
  });

  it('a change whose wait was broken off has an outcome that nobody knows', async () => {
    const error = new ErrorReply('UNBLOCKED force unblock from blocking operation, instance state changed');
    expect(toProblem(error, await loadLibrary(), 'change')).toMatchObject({ code: 'outcome-unknown' });
  });

  it('any other answer to a script is an end, not a lost reply', async () => {
    const error = new ErrorReply('ERR user_script:12: attempt to index a nil value');
    expect(toProblem(error, await loadLibrary(), 'change')).toMatchObject({ code: 'data-corrupt' });
  });
});
