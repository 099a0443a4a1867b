/** What an error answer of the server means to a caller: real servers that refuse for every reason they can be given. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, type RedisServer, startRedis } from '../../../../test/support/redis-server.ts';
import { openRedisStore, type RedisStore } from '../open-redis-store.ts';
import { NOT_BEGUN, toProblem } from './problem.ts';
import { ErrorReply } from './protocol.ts';

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

  it('takes a right away that a script needs: the call may be repeated, and is then done once', async () => {
    expect(await ask(server.port, 'ACL SETUSER worker on >secret ~* &* +@all')).toBe('OK');
    const url = server.url.replace('redis://', 'redis://worker:secret@');
    const store = await openRedisStore({ url, namespace: 'rights' });
    onTestFinished(() => store.close());
    await ask(server.port, 'ACL SETUSER worker -hset');
    await expect(store.jobs.add([aJob('a')])).rejects.toMatchObject({ code: 'outcome-unknown' });
    await ask(server.port, 'ACL SETUSER worker +hset -hget');
    await expect(store.records.get('k', 'x')).rejects.toMatchObject({ code: 'store-unavailable' });
    await ask(server.port, 'ACL SETUSER worker +hget');
    await store.jobs.add([aJob('a')]);
    expect((await store.jobs.count(['q']))[0]).toMatchObject({ waiting: 1 });
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
  it.each(Object.entries(NOT_BEGUN))('%s is %s, also from within a script', (word, code) => {
    const said = [`${word} some words`, `ERR Error running script (call to f_1): @user_script: 9: -${word} some words`];
    for (const message of said) expect(toProblem(new ErrorReply(message), 'change')).toMatchObject({ code });
  });

  it('a change whose wait was cut short has an unknown outcome', () => {
    const error = new ErrorReply('UNBLOCKED force unblock from blocking operation, instance state changed');
    expect(toProblem(error, 'change')).toMatchObject({ code: 'outcome-unknown' });
  });

  it.each([
    "ERR The user executing the script can't run this command or subcommand script: 5d3f, on @user_script:1.",
    "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments script: 5d3f",
    "ERR Error running script (call to f_5d3f): @user_script:9: The user executing the script can't run this command",
    "NOPERM ACL failure in script: User worker has no permissions to run the 'hset' command script: 5d3f",
  ])('missing rights inside of a script leave an unknown outcome: %s', (message) => {
    expect(toProblem(new ErrorReply(message), 'change')).toMatchObject({ code: 'outcome-unknown' });
    expect(toProblem(new ErrorReply(message), 'read')).toMatchObject({ code: 'store-unavailable' });
  });

  it('any other answer to a script is an end, not a lost reply', () => {
    const error = new ErrorReply('ERR user_script:12: attempt to index a nil value');
    expect(toProblem(error, 'change')).toMatchObject({ code: 'data-corrupt' });
  });
});
