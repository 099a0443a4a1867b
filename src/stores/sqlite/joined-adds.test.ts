/** Adds of one turn travel as one call, and each is answered as if it had been alone. */
import { once } from 'node:events';
import { MessageChannel } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { openFreshSqlite, removeFoldersAtTheEnd } from '../../../test/contract/open-sqlite.ts';
import type { AddResult, NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import type { ToEngine } from './engine/messages.ts';
import { PortClient } from './engine/port-client.ts';

removeFoldersAtTheEnd();

const job = (id: string, queue = 'q'): NewJob => ({ id, queue, data: `"${id}"` });
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);

async function aStore(): Promise<Store> {
  const store = await openFreshSqlite({ clock: 'store' });
  onTestFinished(() => store.close());
  return store;
}

/** Sends calls of one turn, and returns the names and sizes of the requests of the first message. */
async function sentBy(calls: (client: PortClient) => void): Promise<readonly (readonly [string, number])[]> {
  const { port1, port2 } = new MessageChannel();
  const client = new PortClient(port1);
  onTestFinished(() => client.close());
  const message = once(port2, 'message') as unknown as Promise<readonly [ToEngine]>;
  calls(client);
  const [sent] = await message;
  if (sent.kind !== 'requests') throw new Error(`a message ${sent.kind} was sent`);
  return sent.requests.map(([, name, packed]) => [name, sizeOf(packed)]);
}

const sizeOf = (packed: unknown): number => (Array.isArray(packed) ? (packed.length - 1) / 2 : 0);

const send = (client: PortClient, name: 'add' | 'cancel', argument: unknown, now?: number): void => {
  client.call(name, argument, now === undefined ? {} : { now }).catch(() => undefined);
};

it('sends adds of one queue as one call, up to a hundred jobs', async () => {
  expect(await sentBy((client) => range(7).forEach((n) => send(client, 'add', [job(`${n}`)])))).toEqual([['add', 7]]);
  const sent = await sentBy((client) => range(120).forEach((n) => send(client, 'add', [job(`${n}`)])));
  expect(sent).toEqual([['add', 100]]);
});

it('sends an add at once while a claim waits, and further adds of the turn in the next message', async () => {
  const { port1, port2 } = new MessageChannel();
  const client = new PortClient(port1);
  onTestFinished(() => client.close());
  const messages: (readonly (readonly [string, number])[])[] = [];
  port2.on('message', (message: ToEngine) => {
    if (message.kind === 'requests') messages.push(message.requests.map(([, name, packed]) => [name, sizeOf(packed)]));
  });
  const wait = { ms: 60_000, signal: new AbortController().signal };
  client.call('claim', { worker: 'w', queues: ['q'], limit: 1, requestId: 'r' }, { wait }).catch(() => undefined);
  await expect.poll(() => messages.length).toBe(1);
  for (const n of range(3)) send(client, 'add', [job(`${n}`)]);
  await expect.poll(() => messages.slice(1)).toEqual([[['add', 1]], [['add', 2]]]);
});

it('starts another call for another queue, after another call, with a time, and for jobs with options', async () => {
  const sent = await sentBy((client) => {
    send(client, 'add', [job('a')]);
    send(client, 'add', [job('b', 'r')]);
    send(client, 'add', [job('c', 'r'), job('d', 'r')]);
    send(client, 'cancel', []);
    send(client, 'add', [job('e', 'r')]);
    send(client, 'add', [job('f', 'r')], 1_000);
    send(client, 'add', [job('g', 'r')]);
    send(client, 'add', [{ ...job('h', 'r'), priority: 1 }]);
  });
  const names = sent.map(([name, jobs]) => (name === 'add' ? jobs : name));
  expect(names).toEqual([1, 3, 'cancel', 1, 1, 1, 0]);
});

it('answers each add with its own results', async () => {
  const { jobs } = await aStore();
  await jobs.add([job('known')]);
  const calls = [
    [job('a')],
    [job('b'), job('known')],
    [job('c')],
    [job('a')],
    [job('d', 'r'), job('e', 'q')],
    [job('f')],
  ];
  const answers = await Promise.all(calls.map((each) => jobs.add(each)));
  const shown = answers.map((results) => results.map((result) => result.ok && `${result.id} ${result.outcome}`));
  expect(shown).toEqual([
    ['a added'],
    ['b added', 'known exists'],
    ['c added'],
    ['a exists'],
    ['d added', 'e added'],
    ['f added'],
  ]);
});

it('answers hundreds of adds of one turn', async () => {
  const { jobs } = await aStore();
  const answers = await Promise.all(range(950).map((n) => jobs.add([job(`${n}`)])));
  const ids = answers.flatMap((results: readonly AddResult[]) => results.map((result) => result.ok && result.id));
  expect(ids).toEqual(range(950).map(String));
  expect(await jobs.count(['q'])).toMatchObject([{ waiting: 950 }]);
});

it('keeps the order of calls', async () => {
  const { jobs } = await aStore();
  const [, cancelled] = await Promise.all([
    jobs.add([job('a')]),
    jobs.cancel([{ id: 'a' }, { id: 'b' }]),
    jobs.add([job('b')]),
  ]);
  expect(cancelled.map(({ ok }) => ok)).toEqual([true, false]);
});

it('rejects only the add whose job cannot be stored', async () => {
  const { jobs } = await aStore();
  const broken = { ...job('b'), data: null as unknown as string };
  const answers = await Promise.allSettled([jobs.add([job('a')]), jobs.add([broken]), jobs.add([job('c')])]);
  expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

it('rejects all adds that were not answered when the engine ends', async () => {
  const { port1, port2 } = new MessageChannel();
  const client = new PortClient(port1);
  const adds = ['a', 'b'].map((id) => client.call('add', [job(id)]));
  const ends = Promise.allSettled(adds);
  await once(port2, 'message');
  port2.close();
  for (const end of await ends) expect(end).toMatchObject({ status: 'rejected', reason: { code: 'outcome-unknown' } });
});
