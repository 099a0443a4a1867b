/** Add: the record of a new job, and idempotence by id. */
import { expect, it } from 'vitest';
import type { Open } from './contract.ts';
import { complete, outcomeOf, START } from './workbench.ts';

const NEW_BORN = {
  name: null,
  state: 'waiting',
  priority: 0,
  tags: [],
  policy: {},
  unique: null,
  parents: null,
  dependents: 0,
  createdAt: START,
  runAt: START,
  delayMs: null,
  returnedAt: null,
  turn: 0,
  coalesceKey: null,
  freedAt: null,
  foldedInto: null,
  folded: 0,
  slots: [],
  steps: null,
  suspension: null,
  attempt: 0,
  failures: 0,
  resends: 0,
  crashes: 0,
  interruptions: 0,
  lease: null,
  progress: null,
  checkpoint: null,
  result: null,
  failure: null,
  forwardedTo: null,
  endedAt: null,
};

const EVERY_FIELD = {
  id: 'full',
  queue: 'videos',
  data: '{"n":1}',
  name: 'encode',
  priority: -3,
  runAt: START + 5,
  tags: ['red', 'blue'],
  policy: {
    retries: 2,
    maxResends: 3,
    backoff: { kind: 'list', delayMs: 1, maxMs: 2, jitter: 0.25, delaysMs: [1, 2] },
    maxRuntimeMs: 4,
    maxSilenceMs: 5,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  unique: { key: 'k', scope: 'queue', until: 'period', periodMs: 1_000 },
} as const;

/** Jobs of one call, some of them alike, in queues of which four decide by more than the name. */
const MIXED = [
  ...['a1', 'a2', 'a3'].map((id) => ({ id, queue: 'plain', data: `"${id}"` })),
  { id: 'a2', queue: 'plain', data: '"again"' },
  { id: 'a4', queue: 'plain', data: '1', priority: 3 },
  { id: 'a5', queue: 'plain', data: '2' },
  ...['b1', 'b2', 'b3'].map((id) => ({ id, queue: 'ranked', data: '1' })),
  ...['c1', 'c2', 'c3'].map((id, n) => ({ id, queue: 'keyed', data: `{"tenant":${n % 2}}` })),
  ...['d1', 'd2', 'd3'].map((id, n) => ({ id, queue: 'coalescing', data: `{"site":${n % 2}}` })),
  ...['e1', 'a1'].map((id) => ({ id, queue: 'closed', data: '1' })),
  { id: 'a6', queue: 'plain', data: '3', delayMs: 5 },
  { id: 'a7', queue: 'plain', data: '4' },
];

export function addContract(open: Open): void {
  it('gives each job of a call the record that it would get in a call of its own', async () => {
    const [together, single] = [await open(), await open()];
    for (const bench of [together, single]) {
      await bench.setQueue('ranked', { priority: 7 });
      await bench.setQueue('keyed', { keys: { by: ['tenant'], limit: 1 } });
      await bench.setQueue('coalescing', { coalesce: { by: ['site'] } });
      await bench.setQueue('closed', { state: 'down' });
    }
    const results = [];
    for (const job of MIXED) results.push(...(await single.jobs.add([job])));
    expect(await together.jobs.add(MIXED)).toEqual(results);
    const ids = [...new Set(MIXED.map(({ id }) => id))];
    expect(await together.jobs.find(ids)).toEqual(await single.jobs.find(ids));
    const queues = [...new Set(MIXED.map(({ queue }) => queue))];
    expect(await together.jobs.count(queues)).toEqual(await single.jobs.count(queues));
    expect(await together.jobs.history('a3')).toEqual(await single.jobs.history('a3'));
  });

  it('gives a new job its defaults', async () => {
    const bench = await open();
    expect(await bench.add({ id: 'a', data: '[1]' })).toEqual([
      { ok: true, outcome: 'added', id: 'a', queue: 'q', state: 'waiting' },
    ]);
    const { seq, ...job } = await bench.job('a');
    expect(job).toEqual({ ...NEW_BORN, id: 'a', queue: 'q', data: '[1]' });
    expect(seq).toBeGreaterThan(0);
  });

  it('keeps every field that is given', async () => {
    const bench = await open();
    await bench.add(EVERY_FIELD);
    expect(await bench.job('full')).toEqual({ ...NEW_BORN, ...EVERY_FIELD, seq: expect.any(Number) });
  });

  it('numbers jobs in the order in which they are added', async () => {
    const bench = await open();
    const ids = ['c', 'a', 'b', 'd'];
    const results = await bench.add(...ids.slice(0, 3).map((id) => ({ id })));
    await bench.add({ id: 'd', queue: 'other' });
    expect(results.map((result) => result.ok && result.id)).toEqual(['c', 'a', 'b']);
    const numbers = (await bench.jobs.find(ids)).map((job) => job?.seq ?? 0);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('answers an empty call with an empty list', async () => {
    const bench = await open();
    const { jobs } = bench;
    expect(await jobs.add([])).toEqual([]);
    expect(await jobs.commit([])).toEqual([]);
    expect(await jobs.heartbeat([])).toEqual([]);
    expect(await jobs.settle([])).toEqual([]);
    expect(await jobs.cancel([])).toEqual([]);
    expect(await jobs.requeue([])).toEqual([]);
    expect(await jobs.move([])).toEqual([]);
    expect(await jobs.change([])).toEqual([]);
    expect(await jobs.delete([])).toEqual([]);
    expect(await jobs.find([])).toEqual([]);
    expect(await jobs.count([])).toEqual([]);
  });

  it('returns the existing job with the same id, and changes nothing', async () => {
    const bench = await open();
    await bench.add({ id: 'a', data: '1', tags: ['x'] });
    const before = await bench.job('a');
    bench.pass(10);
    expect(await bench.add({ id: 'a', queue: 'other', data: '2', priority: 9 })).toEqual([
      { ok: true, outcome: 'exists', id: 'a', queue: 'q', state: 'waiting' },
    ]);
    expect(await bench.job('a')).toEqual(before);
    expect(await bench.events('a')).toEqual(['added']);
  });

  it('adds an id once that occurs twice in one call', async () => {
    const bench = await open();
    const results = await bench.add({ id: 'a', data: '1' }, { id: 'a', data: '2' });
    expect(results).toMatchObject([{ outcome: 'added' }, { outcome: 'exists' }]);
    expect((await bench.job('a')).data).toBe('1');
  });

  it('returns the present state and queue of the existing job', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a' });
    expect(await bench.add({ id: 'a' })).toMatchObject([{ outcome: 'exists', state: 'running' }]);
    await bench.settle(job, complete);
    expect(await bench.add({ id: 'a', queue: 'elsewhere' })).toMatchObject([
      { outcome: 'exists', state: 'done', queue: 'q' },
    ]);
  });

  it('creates a job anew after its id was deleted', async () => {
    const bench = await open();
    await bench.add({ id: 'a', data: '1' });
    await bench.jobs.delete(['a']);
    expect(await bench.add({ id: 'a', data: '2' })).toMatchObject([{ outcome: 'added' }]);
    expect((await bench.job('a')).data).toBe('2');
    expect(await bench.events('a')).toEqual(['added']);
  });

  it('is refused by a queue that is down, for those jobs only', async () => {
    const bench = await open();
    await bench.add({ id: 'old', queue: 'down' });
    await bench.setQueue('down', { state: 'down' });
    await bench.setQueue('paused', { state: 'paused' });
    const results = await bench.add(
      { id: 'a', queue: 'down' },
      { id: 'b', queue: 'paused' },
      { id: 'old', queue: 'down' },
      { id: 'c' },
    );
    expect(results.map(outcomeOf)).toEqual(['queue-down', 'ok', 'ok', 'ok']);
    expect(await bench.states('a', 'b', 'old', 'c')).toEqual([null, 'waiting', 'waiting', 'waiting']);
  });

  it("uses the queue's priority unless the job has its own", async () => {
    const bench = await open();
    await bench.setQueue('q', { priority: 7 });
    await bench.add({ id: 'a' }, { id: 'b', priority: 0 }, { id: 'c', queue: 'other' });
    expect((await bench.jobs.find(['a', 'b', 'c'])).map((job) => job?.priority)).toEqual([7, 0, 0]);
  });

  it('counts a delay from now, and prefers a given run time', async () => {
    const bench = await open();
    await bench.add({ id: 'a', delayMs: 500 }, { id: 'b', delayMs: 500, runAt: START - 7 }, { id: 'c', runAt: 0 });
    expect((await bench.jobs.find(['a', 'b', 'c'])).map((job) => job?.runAt)).toEqual([START + 500, START - 7, 0]);
  });

  it('finds jobs in the order of the given ids', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b' });
    const found = await bench.jobs.find(['b', 'none', 'a', 'b']);
    expect(found.map((job) => job?.id ?? null)).toEqual(['b', null, 'a', 'b']);
  });
}
