/** TLS with certificates made on the spot, and a user with the rights that docs/redis.md grants and no others. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ask, describeWithRedis, findPort, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import { luaPaths, luaText } from './calls/lua-files.ts';
import { openRedisStore, type RedisStore } from './open-redis-store.ts';

const DOCUMENT = readFileSync(new URL('../../../docs/redis.md', import.meta.url), 'utf8');
const SENTINEL_LINE = /`(ACL SETUSER [^`]*sentinel\|[^`]*)`/.exec(DOCUMENT)?.[1] ?? '';
const ACL_LINE = /^ACL SETUSER longhaul on .*$/m.exec(DOCUMENT)?.[0] ?? '';

/** Something of everything: what a queue needs from the first add to the last look. */
async function useAll({ jobs, records }: RedisStore): Promise<void> {
  const heard = new Promise((resolve) => jobs.subscribe(resolve));
  const unique = { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } as const;
  await jobs.add([{ id: 'a', queue: 'q', data: '{}', unique, tags: ['t'] }]);
  await jobs.add([{ id: 'b', queue: 'q', data: '{}', dependsOn: ['a'] }]);
  const { jobs: claimed } = await jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 'r' });
  await jobs.settle([{ id: 'a', token: claimed[0]?.lease?.token ?? 0, kind: 'complete' }]);
  await jobs.maintain({ limit: 10 });
  expect((await jobs.list({ queue: 'q', order: 'newest', limit: 10 })).jobs).toHaveLength(2);
  await records.put({ kind: 'k', key: 'x', value: '1' });
  await jobs.cancel([{ id: 'b' }]);
  await jobs.delete(['a', 'b']);
  const wait = { ms: 5_000, signal: new AbortController().signal };
  // The first claim that waits opens the connection; on a busy machine it is answered before that is open.
  await jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 's' }, { wait: { ...wait, ms: 200 } });
  await sleep(500);
  const waiting = jobs.claim({ worker: 'w', queues: ['q'], limit: 1, requestId: 't' }, { wait });
  await sleep(100);
  await jobs.add([{ id: 'c', queue: 'q', data: '{}' }]);
  expect((await waiting).jobs).toMatchObject([{ id: 'c' }]);
  expect(await heard).toMatchObject([{ type: 'added', id: 'a' }]);
}

describeWithRedis('a user of its own', () => {
  it.each([false, true])(
    'works with exactly the rights that the document grants (in a cluster: %s)',
    async (cluster) => {
      const server = await startRedis({ cluster });
      onTestFinished(() => server.stop());
      expect(await ask(server.port, ACL_LINE)).toBe('OK');
      const url = server.url.replace('redis://', 'redis://longhaul:PASSWORD@');
      const store = await openRedisStore({ url });
      onTestFinished(() => store.close());
      expect(store.notices.join()).not.toContain('forbidden');
      await useAll(store);
      const elsewhere = openRedisStore({ url, namespace: 'other' });
      await expect(elsewhere).rejects.toMatchObject({ code: 'store-unavailable' });
    },
  );
});

describeWithRedis('a Sentinel that asks for a login', () => {
  it('knows us by the rights that the document grants', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    const sentinel = await startRedis({ sentinel: { 'sentinel monitor main': `127.0.0.1 ${server.port} 1` } });
    onTestFinished(() => sentinel.stop());
    expect(await ask(sentinel.port, SENTINEL_LINE)).toBe('OK');
    await ask(sentinel.port, 'ACL SETUSER default off');
    const url = `redis+sentinel://127.0.0.1:${sentinel.port}/main`;
    await expect(openRedisStore({ url })).rejects.toMatchObject({ code: 'store-unavailable' });
    const store = await openRedisStore({ url: `${url}?sentinelUsername=longhaul&sentinelPassword=PASSWORD` });
    onTestFinished(() => store.close());
    expect(store.facts.join('\n')).toContain(`127.0.0.1:${server.port} (found by Sentinel)`);
  });
});

describe('the rights in the document', () => {
  it('are those of the commands that the scripts call and the client sends, each of them', () => {
    const texts = luaPaths().map(luaText);
    const calls = /(?:call|write|writeMany)\(\s*'([A-Z]+)'/g;
    const called = texts.flatMap((text) => [...text.matchAll(calls)].map(([, name = '']) => name.toLowerCase()));
    const sent = ['eval', 'evalsha', 'config|get', 'ping', 'wait', 'subscribe', 'unsubscribe'];
    const blocking = ['bzpopmin', 'client|id', 'client|unblock'];
    const asked = ['cluster|slots', 'cluster|keyslot'];
    const moving = /`longhaul migrate` also needs `([^`]*)`/.exec(DOCUMENT)?.[1] ?? '';
    const granted = [...`${ACL_LINE} ${moving}`.matchAll(/\+(\S+)/g)].map(([, name]) => name);
    expect(new Set(granted), 'docs/redis.md, access rights').toEqual(
      new Set([...called, ...sent, ...blocking, ...asked]),
    );
  });
});

describeWithRedis('a server that speaks TLS only to whom it knows', () => {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-tls-'));
  const file = (name: string): string => join(folder, name);
  const files = () => ({
    'tls-ca-cert-file': file('ca.crt'),
    'tls-cert-file': file('a.crt'),
    'tls-key-file': file('a.key'),
  });
  const watch = (port: number) => ({ 'sentinel monitor main': `127.0.0.1 ${port} 1` });
  let server: RedisServer;
  let tlsPort: number;

  beforeAll(async () => {
    makeCertificates(folder);
    tlsPort = await findPort();
    server = await startRedis({ config: { 'tls-port': String(tlsPort), 'tls-auth-clients': 'yes', ...files() } });
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('is used with the files that the address names, or the options', async () => {
    const query = `ca=${file('ca.crt')}&cert=${file('a.crt')}&key=${file('a.key')}`;
    const named = await openRedisStore({ url: `rediss://localhost:${tlsPort}?${query}` });
    onTestFinished(() => named.close());
    await useAll(named);
    const tls = { ca: file('ca.crt'), cert: file('a.crt'), key: file('a.key'), servername: 'localhost' };
    const given = await openRedisStore({ url: `rediss://127.0.0.1:${tlsPort}`, tls });
    onTestFinished(() => given.close());
    expect(await given.jobs.count()).toMatchObject([{ queue: 'q' }]);
  });

  it('is found by a Sentinel that speaks TLS too', async () => {
    const port = await findPort();
    const sentinel = await startRedis({
      sentinel: { 'tls-port': String(port), 'tls-replication': 'yes', ...files(), ...watch(tlsPort) },
    });
    onTestFinished(() => sentinel.stop());
    const tls = { ca: file('ca.crt'), cert: file('a.crt'), key: file('a.key'), servername: 'localhost' };
    const store = await openRedisStore({ url: `rediss+sentinel://localhost:${port}/main`, tls, namespace: 'found' });
    onTestFinished(() => store.close());
    expect(store.facts.join('\n')).toContain(`127.0.0.1:${tlsPort} (found by Sentinel)`);
    await useAll(store);
  });

  it('is not trusted with another certificate, and trusts no client without one', async () => {
    const open = (tls: object) => openRedisStore({ url: `rediss://localhost:${tlsPort}`, tls });
    const mine = { cert: file('a.crt'), key: file('a.key') };
    await expect(open(mine)).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(open({ ...mine, ca: file('ca.crt'), servername: 'elsewhere' })).rejects.toMatchObject({
      code: 'store-unavailable',
    });
    await expect(open({ ca: file('ca.crt') })).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(open({ ca: file('none.crt') })).rejects.toMatchObject({ code: 'bad-input' });
  });
});

/** An authority and a certificate of localhost that it signed. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  openssl('req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=authority');
  const from = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-addext', 'subjectAltName=DNS:localhost'];
  openssl('req', '-x509', ...key, '-keyout', 'a.key', '-out', 'a.crt', '-subj', '/CN=localhost', ...from);
}
