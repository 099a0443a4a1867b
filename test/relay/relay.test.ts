/** Two nodes: a job with its files goes from one to the other, once, and ends as relayed at its sender. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { RELAY_MEMORY_MS, RELAYED_RECORD, recallRelayed } from '../../src/node/relay/relay-memory.ts';
import { makeToken } from '../../src/server/auth/tokens.ts';
import type { TrialNode } from './relay-bench.ts';
import { aFile, ended, filesOf, hasFailed, hashesOf, jobsIn, relay, startNode, until } from './relay-bench.ts';

let a: TrialNode;
let b: TrialNode;

beforeAll(async () => {
  [a, b] = [await startNode(), await startNode()];
  await b.knows('mail');
});

const idOf = (address: string | null): string => address?.split('/').at(-1) ?? '';

describe('a job for an address', () => {
  it('goes there with its files and ends here as relayed, with its new address', async () => {
    const files = [aFile('empty', 0), aFile('small.txt', 10), aFile('large', 300_000)];
    await relay(a, { id: 'letter', to: `${b.base}q/mail`, data: { to: 'you' }, files });
    const sent = await until(a, 'letter', ended);
    expect(sent).toMatchObject({ state: 'done', failures: 0, queue: 'relay' });
    const arrived = await b.find(idOf(sent.forwardedTo));
    expect(arrived).toMatchObject({ state: 'waiting', queue: 'mail', data: '{"to":"you"}' });
    expect(sent.forwardedTo).toBe(`${b.base}q/mail/${arrived?.id}`);
    expect(await filesOf(b, arrived?.id ?? '')).toEqual(hashesOf(files));
    const { json } = await a.ask('GET', '/api/jobs/letter');
    expect(json).toMatchObject({ label: 'relayed', reason: `handed to ${sent.forwardedTo}` });
  });

  it('may be added over HTTP, with options for here and for there', async () => {
    const order = {
      queue: `${b.base}q/mail`,
      data: [1],
      id: 'http',
      name: 'a letter',
      tags: ['blue'],
      priority: -3,
      retries: 7,
    };
    const { status, json } = await a.ask('POST', '/api/jobs', order);
    expect([status, json]).toEqual([201, { id: 'http', queue: 'relay', state: 'waiting', outcome: 'added' }]);
    const { forwardedTo, tags, name } = await until(a, 'http', ended);
    expect([tags, name]).toEqual([['blue'], 'a letter']);
    expect(await b.find(idOf(forwardedTo))).toMatchObject({
      name: 'a letter',
      tags: ['blue'],
      priority: -3,
      policy: { retries: 7 },
      data: '[1]',
    });
  });

  it('may be added by the library', async () => {
    const longhaul = await connect(a.base);
    const job = await longhaul.queue(`${b.base}q/mail`).add({ by: 'library' });
    const { forwardedTo } = await until(a, job.id, ended);
    expect(await b.find(idOf(forwardedTo))).toMatchObject({ data: '{"by":"library"}' });
    expect(() => longhaul.queue('http://x/y')).toThrow('must be an address such as');
    expect(() => longhaul.queue(`${b.base}q/mail`).work(async () => null)).toThrow('queue name: must begin');
    await longhaul.close();
  });

  it('may be a copy of another job, with its files', async () => {
    await a.knows('here');
    const files = [aFile('copied', 500)];
    await relay(a, { id: 'original', to: `${a.base}q/here`, data: 'copy me', files });
    const original = idOf((await until(a, 'original', ended)).forwardedTo);
    const { json } = await a.ask('POST', `/api/jobs/${original}/duplicate`, { queue: `${b.base}q/mail`, id: 'copy' });
    expect(json).toMatchObject({ queue: 'relay' });
    const { forwardedTo } = await until(a, 'copy', ended);
    expect(await filesOf(b, idOf(forwardedTo))).toEqual(hashesOf(files));
    expect(await b.find(idOf(forwardedTo))).toMatchObject({ data: '"copy me"' });
  });
});

describe('an address of the node itself', () => {
  it('is a queue here, without a network', async () => {
    await a.knows('here');
    a.change({ allowDestinations: [], aliases: ['http://butter:3333'] });
    for (const [id, to] of Object.entries({ own: `${a.base}q/here`, alias: 'http://butter:3333/q/here' })) {
      const files = [aFile('f', 10)];
      await relay(a, { id, to, data: id, files });
      const sent = await until(a, id, ended);
      expect(sent).toMatchObject({ state: 'done', forwardedTo: `${a.base}q/here/${idOf(sent.forwardedTo)}` });
      expect(await filesOf(a, idOf(sent.forwardedTo))).toEqual(hashesOf(files));
    }
    a.change({});
  });

  it('is called over the network with forceRemote', async () => {
    await relay(a, {
      id: 'forced',
      to: `${a.base}q/here`,
      data: 'out and back',
      forceRemote: true,
      files: [aFile('f', 99)],
    });
    const { forwardedTo } = await until(a, 'forced', ended);
    expect(await a.find(idOf(forwardedTo))).toMatchObject({ queue: 'here', data: '"out and back"' });
    // Only a relay over the network detects the kind of the peer.
    expect(await a.store.records.get('relay-peer', a.base)).not.toBeNull();
  });

  it('forceRemote without an address is refused', async () => {
    expect(await a.ask('POST', '/api/jobs', { queue: 'here', forceRemote: true })).toMatchObject({ status: 400 });
  });
});

describe('the records of received jobs', () => {
  it('outlive the job: a job sent again after its deletion there is not created', async () => {
    await relay(a, { id: 'once', to: `${b.base}q/mail`, data: 'once' });
    const there = idOf((await until(a, 'once', ended)).forwardedTo);
    await b.store.jobs.delete([there]);
    await a.store.jobs.requeue([{ id: 'once' }]);
    expect(await until(a, 'once', (job) => ended(job) && job.attempt === 2)).toMatchObject({ state: 'done' });
    expect(await b.find(there)).toBeNull();
    expect((await jobsIn(b, 'mail')).filter(({ data }) => data === '"once"')).toEqual([]);
  });

  it('are kept for more than thirty days', async () => {
    expect(RELAY_MEMORY_MS).toBeGreaterThan(30 * 86_400_000);
    const [record] = await b.store.records.list({ kind: RELAYED_RECORD, limit: 1 });
    expect(record?.expiresAt).toBeGreaterThan(Date.now() + 30 * 86_400_000);
  });

  it('recognize a commit with an unfinished record, by the job or by its absence', async () => {
    await relay(a, { id: 'half', to: `${b.base}q/mail`, data: 'half' });
    const there = idOf((await until(a, 'half', ended)).forwardedTo);
    const known = await recallRelayed(b.store.records, there);
    const value = JSON.stringify({ ...known, phase: 'committing' });
    for (const isDeleted of [false, true]) {
      if (isDeleted) await b.store.jobs.delete([there]);
      await b.store.records.put({ kind: RELAYED_RECORD, key: there, value });
      await a.store.jobs.requeue([{ id: 'half' }]);
      await until(a, 'half', (job) => ended(job) && job.attempt === (isDeleted ? 3 : 2));
    }
    expect(await b.find(there)).toBeNull();
  });

  it('commit a draft that its sender changed after the prepare with its new data', async () => {
    await b.settings.change('mail', { state: 'up' });
    const { receiver, source } = b.node.relay;
    const relayed = { queue: 'mail', data: '"old"', job: {}, source, origin: 'http://x/q/y/z', hops: 1 };
    expect(await receiver.prepare('changed', relayed)).toMatchObject({ phase: 'draft' });
    expect(await receiver.prepare('changed', { ...relayed, data: '"new"' })).toMatchObject({ phase: 'draft' });
    expect(await receiver.commit('changed', [])).toMatchObject({ phase: 'committed' });
    expect(await b.find('changed')).toMatchObject({ data: '"new"', state: 'waiting' });
  });
});

describe('loops', () => {
  it('a relay back to the queue of origin fails for good', async () => {
    const data = { to: `${b.base}q/mail`, data: 1, origin: `${b.base}q/mail/first`, hops: 1 };
    await a.store.jobs.add([{ id: 'round', queue: 'relay', data: JSON.stringify(data) }]);
    const job = await until(a, 'round', ended);
    expect(job).toMatchObject({ state: 'failed', failure: { group: 'relay: loop' } });
    expect(job.failure?.message).toContain('its destination is the queue of its origin');
  });

  it('the receiver detects a loop by its aliases too', async () => {
    const c = await startNode({ aliases: ['http://other.name:3333/'] });
    await c.knows('mail');
    const data = { to: `${c.base}q/mail`, data: 1, origin: 'http://other.name:3333/q/mail/first' };
    await a.store.jobs.add([{ id: 'named', queue: 'relay', data: JSON.stringify(data) }]);
    expect(await until(a, 'named', ended)).toMatchObject({ state: 'failed', failure: { group: 'relay: loop' } });
  });

  it('too many hops fail for good', async () => {
    const data = { to: `${b.base}q/mail`, data: 1, hops: 16 };
    await a.store.jobs.add([{ id: 'far', queue: 'relay', data: JSON.stringify(data) }]);
    const job = await until(a, 'far', ended);
    expect(job.failure?.message).toBe('relay loop detected: it was relayed 17 times, more than 16');
  });

  it('hops and origin are kept when a job is relayed manually', async () => {
    const c = await startNode();
    await c.knows('mail');
    await relay(a, { id: 'far-1', to: `${b.base}q/mail` });
    const atB = idOf((await until(a, 'far-1', ended)).forwardedTo);
    await b.ask('POST', `/api/jobs/${atB}/duplicate`, { queue: `${c.base}q/mail`, id: 'far-2' });
    const atC = idOf((await until(b, 'far-2', ended)).forwardedTo);
    expect(await recallRelayed(c.store.records, atC)).toMatchObject({ hops: 2, origin: `${a.base}q/relay/far-1` });
  });
});

describe('tokens', () => {
  it('are sent where they are required, and appear only in the header', async () => {
    const guarded = await startNode({}, { requireToken: true });
    await guarded.knows('mail');
    const { text: token } = await makeToken(
      guarded.store.records,
      { name: 'a', role: 'relay', expiresAt: null },
      Date.now(),
    );
    await relay(a, { id: 'secret', to: `${guarded.base}q/mail`, files: [aFile('f', 1_000)] });
    expect(await until(a, 'secret', hasFailed)).toMatchObject({
      endedAt: null,
      failure: { group: 'relay: unauthorized' },
    });
    a.change({ destinations: { [guarded.base]: { token } } });
    const { forwardedTo } = await until(a, 'secret', ended);
    expect(forwardedTo).toContain(guarded.base);
    expect((await a.ask('GET', '/api/jobs/secret/remote')).json).toMatchObject({
      known: true,
      job: { state: 'waiting' },
    });
    for (const node of [a, guarded]) expect(await everythingOf(node)).not.toContain(token);
    a.change({});
    expect((await a.ask('GET', '/api/jobs/secret/remote')).json).toMatchObject({
      known: false,
      reason: expect.stringContaining('401'),
    });
  });

  it('of a relay show only relayed jobs', async () => {
    await b.store.jobs.add([{ id: 'private', queue: 'mail', data: '1' }]);
    expect((await b.ask('GET', '/api/relay/private')).status).toBe(404);
    expect((await b.ask('GET', '/api/relay/private/log')).status).toBe(404);
  });
});

it('state and log of a relayed job are read from the node that has it', async () => {
  await relay(a, { id: 'followed', to: `${b.base}q/mail` });
  const there = idOf((await until(a, 'followed', ended)).forwardedTo);
  const { json } = await a.ask('GET', '/api/jobs/followed/remote');
  expect(json).toMatchObject({ known: true, address: `${b.base}q/mail/${there}`, job: { id: there, label: 'ready' } });
  expect((await a.ask('GET', '/api/jobs/followed/remote/log')).json).toMatchObject({ known: false });
  await b.store.jobs.delete([there]);
  expect((await a.ask('GET', '/api/jobs/followed/remote')).json).toMatchObject({
    known: false,
    reason: expect.stringContaining('does not exist'),
  });
  await a.store.jobs.add([{ id: 'stays', queue: 'here', data: '1' }]);
  expect((await a.ask('GET', '/api/jobs/stays/remote')).status).toBe(409);
});

it('no node reported an error', () => {
  expect([...a.troubles, ...b.troubles]).toEqual([]);
});

/** Returns jobs, histories, records and files of a node as text. */
async function everythingOf({ store, home, events }: TrialNode): Promise<string> {
  const { jobs } = await store.jobs.list({ order: 'newest', limit: 1_000 });
  const histories = await Promise.all(jobs.map(({ id }) => store.jobs.history(id)));
  const kinds = ['audit', 'relayed-in', 'relay-peer', 'queue', 'attachment', 'idempotency', 'node', 'queue-problem'];
  const records = await Promise.all(kinds.map((kind) => store.records.list({ kind, limit: 1_000 })));
  const files = readdirSync(home.root, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && file.name !== 'node.json')
    .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'));
  return JSON.stringify([jobs, histories, records, events, files]);
}
