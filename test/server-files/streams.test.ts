/** Event streams over HTTP: changes arrive at once with the new row; a reader that resumes gets the missed events or a reset. */
import { beforeAll, expect, it } from 'vitest';
import type { JobEvent } from '../../src/wire/job-event.ts';
import { eventually, FilesBench } from './files-bench.ts';
import type { Message } from './stream-reader.ts';

const bench = new FilesBench();
beforeAll(() => bench.start());

const isReady = ({ event }: Message): boolean => event === 'ready';
const of = (id: string, type?: string) => (message: Message) =>
  message.data['id'] === id && (type === undefined || (message.data['types'] as string[]).includes(type));
const eventOf = ({ data }: Message): JobEvent => data as unknown as JobEvent;

async function claim(queue: string): Promise<{ id: string; token: number }> {
  const worker = {
    id: `w-${queue}`,
    host: 'h',
    pid: 1,
    queues: [queue],
    leaseMs: 60_000,
    info: '{}',
    kind: 'register',
  };
  await bench.call('keepWorker', worker);
  const request = { worker: worker.id, queues: [queue], limit: 1, requestId: `r-${queue}` };
  const { jobs } = await bench.call<{ jobs: { id: string; lease: { token: number } }[] }>('claim', request);
  return { id: jobs[0]?.id ?? '', token: jobs[0]?.lease.token ?? 0 };
}

it('sends each change of a job with its row, and each change of a queue', async () => {
  const reader = await bench.read('/api/events');
  expect((await reader.next(isReady)).id).toMatch(/^\d+-\d+$/);
  await bench.add('told', 'told-1', { name: 'a name', tags: ['x'], priority: 3 });
  const added = eventOf(await reader.next(of('told-1', 'added')));
  expect(added).toMatchObject({ type: 'added', id: 'told-1', queue: 'told', state: 'waiting' });
  expect(added.row).toMatchObject({
    label: 'ready',
    name: 'a name',
    tags: ['x'],
    priority: 3,
    attempt: 0,
    progress: null,
  });
  const { token } = await claim('told');
  expect(eventOf(await reader.next(of('told-1', 'claimed'))).row).toMatchObject({
    label: 'starting',
    worker: 'w-told',
  });
  await bench.call('heartbeat', [
    { id: 'told-1', token, started: { pid: 7 }, progress: { percent: 40, text: 'pass 1' } },
  ]);
  const progress = eventOf(await reader.next(of('told-1', 'progress')));
  expect(progress.row).toMatchObject({ label: 'running', progress: { percent: 40, text: 'pass 1' } });
  const failure = { group: 'bad', message: 'it broke', detail: 'long' };
  await bench.call('settle', [{ id: 'told-1', token, kind: 'fail', failure, delayMs: 0 }]);
  const failed = eventOf(await reader.next(of('told-1', 'failed')));
  expect(failed).toMatchObject({ state: 'failed', row: { failure: { group: 'bad', message: 'it broke' } } });
  await bench.call('delete', ['told-1']);
  expect(eventOf(await reader.next(of('told-1', 'deleted')))).toMatchObject({ row: null });
  const put = { kind: 'queue', key: 'told', value: JSON.stringify({ state: 'paused' }) };
  await bench.ask('POST', '/api/store/records/put', { json: { argument: put }, isAdmin: true });
  expect((await reader.next(({ event }) => event === 'queue')).data).toEqual({ type: 'queue', queue: 'told' });
  const ids = reader.messages.map(({ id }) => Number(id?.split('-')[1]));
  expect(ids).toEqual([...ids].sort((one, other) => one - other));
});

it('shows a job that a limit holds back as throttled, like the list', async () => {
  const put = { kind: 'queue', key: 'narrow', value: JSON.stringify({ maxRunning: 1 }) };
  await bench.ask('POST', '/api/store/records/put', { json: { argument: put }, isAdmin: true });
  await bench.add('narrow', 'narrow-1');
  await claim('narrow');
  const reader = await bench.read('/api/events?queue=narrow');
  await reader.next(isReady);
  await bench.add('narrow', 'narrow-2');
  const { row } = eventOf(await reader.next(of('narrow-2', 'added')));
  expect(row).toMatchObject({ label: 'throttled', reason: '1 of 1 running in its queue' });
  const one = await bench.read('/api/jobs/narrow-2/events');
  expect(eventOf(await one.next(({ event }) => event === 'job'))).toMatchObject({ row: { label: 'throttled' } });
});

it('with tracked=true sends only tracked jobs, including those tracked meanwhile, until they are untracked', async () => {
  const mark = (id: string, how = 'track') => bench.ask('POST', `/api/jobs/${id}/${how}`, { json: {} });
  for (const id of ['eyed-1', 'eyed-2', 'eyed-3']) await bench.add('eyed', id);
  await mark('eyed-1');
  const reader = await bench.read('/api/events?tracked=true');
  await reader.next(isReady);
  await mark('eyed-2');
  await reader.next(of('eyed-2', 'tracked'));
  const cancel = (...ids: string[]) =>
    bench.call(
      'cancel',
      ids.map((id) => ({ id })),
    );
  await cancel('eyed-3', 'eyed-1');
  await reader.next(of('eyed-1', 'cancelled'));
  await mark('eyed-1', 'untrack');
  await reader.next(of('eyed-1', 'untracked'));
  await bench.call('delete', ['eyed-1']);
  await cancel('eyed-2');
  await reader.next(of('eyed-2', 'cancelled'));
  expect(reader.messages.filter(of('eyed-3'))).toEqual([]);
  expect(reader.messages.filter(of('eyed-1', 'deleted'))).toEqual([]);
  expect(await bench.ask('GET', '/api/events?tracked=perhaps')).toMatchObject({ status: 400 });
});

it('a reader that resumes gets every change of a job that was tracked then, even if it was untracked meanwhile', async () => {
  const all = await bench.read('/api/events?queue=marked');
  await all.next(isReady);
  const mark = (how: string) => bench.ask('POST', `/api/jobs/marked-1/${how}`, { json: {} });
  await bench.add('marked', 'marked-1');
  await mark('track');
  await all.next(of('marked-1', 'tracked'));
  const before = await bench.read('/api/events?tracked=true');
  await before.next(isReady);
  before.close();
  await bench.call('cancel', [{ id: 'marked-1' }]);
  await all.next(of('marked-1', 'cancelled'));
  await mark('untrack');
  await all.next(of('marked-1', 'untracked'));
  const after = await bench.read('/api/events?tracked=true', { 'last-event-id': before.lastId ?? '' });
  await after.next(isReady);
  const told = after.messages.filter(of('marked-1')).map(({ data }) => data['types']);
  expect(told).toEqual([['cancelled'], ['untracked']]);
});

it('streams one queue, or one job starting with its current state', async () => {
  const queue = await bench.read('/api/events?queue=mine');
  await queue.next(isReady);
  await bench.add('mine', 'mine-1');
  await bench.add('others', 'others-1');
  const job = await bench.read('/api/jobs/mine-1/events');
  expect(eventOf(await job.next(({ event }) => event === 'job'))).toMatchObject({
    state: 'waiting',
    row: { label: 'ready' },
  });
  await job.next(isReady);
  await bench.call('cancel', [{ id: 'others-1' }, { id: 'mine-1' }]);
  await job.next(of('mine-1', 'cancelled'));
  await queue.next(of('mine-1', 'cancelled'));
  for (const reader of [queue, job]) expect(reader.messages.filter(of('others-1'))).toEqual([]);
  expect(await bench.ask('GET', '/api/jobs/nothing/events')).toMatchObject({ status: 404 });
  expect(await bench.ask('GET', '/api/events?queue=a%2Fb')).toMatchObject({ status: 400 });
});

it('a job that moves is sent to the readers of its old queue', async () => {
  const reader = await bench.read('/api/events?queue=old');
  await reader.next(isReady);
  await bench.add('old', 'moves');
  await bench.call('move', [{ id: 'moves', queue: 'new' }]);
  const moved = await reader.next(of('moves'));
  expect(['old', 'new']).toContain(moved.data['queue']);
});

it('a reader that resumes gets the missed events, each once and in order', async () => {
  const before = await bench.read('/api/events');
  await before.next(isReady);
  await bench.add('away', 'away-0');
  await before.next(of('away-0'));
  before.close();
  for (let number = 1; number <= 20; number += 1) await bench.add('away', `away-${number}`);
  const after = await bench.read('/api/events', { 'last-event-id': before.lastId ?? '' });
  await after.next(isReady);
  await bench.add('away', 'away-last');
  await after.next(of('away-last'));
  // The last events may still be in the batch when it resumes; then they are sent live.
  const ids = after.messages.filter(({ event }) => event === 'job').map(({ data }) => data['id']);
  expect(ids).toEqual([...Array.from({ length: 20 }, (_, place) => `away-${place + 1}`), 'away-last']);
});

it('a reader that resumes too late gets a reset: the ring has overflowed, or the node has restarted', async () => {
  const lastId = await (async () => {
    const reader = await bench.read('/api/events');
    await reader.next(isReady);
    reader.close();
    return reader.lastId ?? '';
  })();
  for (let round = 0; round < 11; round += 1) {
    const jobs = Array.from({ length: 1_000 }, (_, n) => ({ id: `many-${round}-${n}`, queue: 'many', data: '1' }));
    await bench.call('add', jobs);
  }
  const isReset = ({ event }: Message): boolean => event === 'reset';
  const late = await eventually(
    async () => {
      const reader = await bench.read('/api/events', { 'last-event-id': lastId });
      await reader.next(isReady);
      reader.close();
      return reader.messages;
    },
    (messages) => messages.some(isReset),
  );
  expect(late.map(({ event }) => event)).toEqual(['reset', 'ready']);
  const known = late.at(-1)?.id ?? '';
  await bench.terminate();
  await bench.start();
  const anew = await bench.read('/api/events', { 'last-event-id': known });
  await anew.next(isReady);
  expect(anew.messages[0]?.event).toBe('reset');
  expect(Number(anew.lastId?.split('-')[0])).toBeGreaterThan(Number(known.split('-')[0]));
  for (const odd of ['x', '1-2-3', '99999999999999999999-1']) {
    const reader = await bench.read('/api/events', { 'last-event-id': odd });
    expect((await reader.next(() => true)).event).toBe('reset');
  }
});

it('a job with endless progress makes ten messages a second, and the last one is sent', async () => {
  await bench.add('chatty', 'chatty');
  const { token } = await claim('chatty');
  const reader = await bench.read('/api/jobs/chatty/events');
  await reader.next(isReady);
  const started = performance.now();
  for (let number = 1; number <= 300; number += 1)
    await bench.call('heartbeat', [{ id: 'chatty', token, progress: { percent: number / 3, text: `step ${number}` } }]);
  await reader.next(({ data }) => (data['row'] as JobEvent['row'])?.progress?.text === 'step 300');
  const seconds = (performance.now() - started) / 1_000;
  expect(reader.messages.length).toBeLessThan(seconds * 10 + 5);
});

it('a reader that falls behind the ring gets a reset when it reads again, and the others get every event', async () => {
  const [slow, quick] = [await bench.read('/api/events'), await bench.read('/api/events')];
  for (const reader of [slow, quick]) await reader.next(isReady);
  slow.pause();
  const tags = Array.from({ length: 10 }, (_, number) => `${number}-${'x'.repeat(120)}`);
  const round = async (number: number): Promise<string> => {
    const prefix = `wide-${performance.now()}-${number}`;
    const jobs = Array.from({ length: 500 }, (_, n) => ({ id: `${prefix}-${n}`, queue: 'wide', data: '1', tags }));
    await bench.call('add', jobs);
    await quick.next(of(`${prefix}-499`));
    return `${prefix}-499`;
  };
  // More than the kernel buffers for a reader and the ring together.
  for (let number = 0; number < 32; number += 1) await round(number);
  slow.resume();
  await slow.next(({ event }) => event === 'reset');
  await slow.next(of(await round(32)));
  expect(slow.messages.length).toBeLessThan(quick.messages.length);
  for (const reader of [slow, quick]) expect(reader.isOver).toBe(false);
  expect(quick.messages.filter(({ event }) => event === 'reset')).toEqual([]);
});

it('a row that is too long for the ring is omitted', async () => {
  const reader = await bench.read('/api/events?queue=long');
  await reader.next(isReady);
  await bench.add('long', 'long', { tags: Array.from({ length: 100 }, (_, number) => `${number}-${'x'.repeat(100)}`) });
  expect(eventOf(await reader.next(of('long')))).toMatchObject({ state: 'waiting', row: null });
});

it('revoking a token closes its open streams', async () => {
  const made = await bench.ask('POST', '/api/tokens', { json: { name: 'reader', role: 'read' }, isAdmin: true });
  const { id, token } = made.json as { id: string; token: string };
  await bench.add('idle', 'idle');
  const headers = { authorization: `Bearer ${token}` };
  const readers = await Promise.all(
    ['/api/events', '/api/jobs/idle/events', '/api/jobs/idle/attempts/latest/log/events'].map((path) =>
      bench.read(path, headers),
    ),
  );
  const own = await bench.read('/api/events');
  expect(readers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const revoked = await bench.ask('DELETE', `/api/tokens/${id}`, { isAdmin: true });
  expect(revoked.status).toBe(204);
  await Promise.all(readers.map((reader) => reader.ended(10_000)));
  expect(own.isOver).toBe(false);
});

it('nodes report their state', async () => {
  const { nodes } = (await bench.ask('GET', '/api/nodes')).json as { nodes: object[] };
  expect(nodes).toMatchObject([
    {
      pid: bench.pid,
      version: '0.0.0',
      isDraining: false,
      queues: [],
      slots: 0,
      running: 0,
      load: [expect.any(Number), expect.any(Number), expect.any(Number)],
    },
  ]);
  expect(nodes[0]).toHaveProperty('memory.rss');
  expect(nodes[0]).toHaveProperty('disk.free');
  await bench.kill9();
  await bench.start();
  const { nodes: after } = (await bench.ask('GET', '/api/nodes')).json as { nodes: { id: string; pid: number }[] };
  expect(after.length).toBe(1);
  expect(after[0]).toMatchObject({ pid: bench.pid, id: (nodes[0] as { id: string }).id });
});
