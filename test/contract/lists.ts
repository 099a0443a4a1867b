/** Lists: every filter, alone and combined, and pages without gaps or repeats while jobs come and go. */
import { expect, it } from 'vitest';
import type { Job } from '../../src/core/job/job.ts';
import type { JobQuery } from '../../src/core/ports/job-store.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, START, type Workbench } from './workbench.ts';

const newest = (query: Partial<JobQuery> = {}): JobQuery => ({ order: 'newest', limit: 100, ...query });

async function idsOf(bench: Workbench, query: Partial<JobQuery>): Promise<readonly string[]> {
  return (await bench.jobs.list(newest(query))).jobs.map(({ id }) => id);
}

/** Returns every page of a query; `between` runs after each of them. */
async function allPages(bench: Workbench, query: Partial<JobQuery>, between?: (page: number) => Promise<unknown>) {
  const found: Job[] = [];
  let page = 0;
  for (let after: string | null | undefined; after !== null; page += 1) {
    const { jobs, next } = await bench.jobs.list(newest({ ...query, ...(after === undefined ? {} : { after }) }));
    expect(jobs.length).toBeLessThanOrEqual(query.limit ?? 100);
    found.push(...jobs);
    after = next;
    await between?.(page);
  }
  return found.map(({ id }) => id);
}

/** One job for each label. */
async function oneOfEach(bench: Workbench): Promise<void> {
  await bench.setQueue('hold', { onLost: 'hold' });
  await bench.setQueue('paused', { state: 'paused' });
  await bench.running({ id: 'stalled', queue: 's' });
  await bench.running({ id: 'held', queue: 'hold' });
  bench.pass(LEASE_MS);
  await bench.add({ id: 'draft', draft: true }, { id: 'scheduled', delayMs: 9 }, { id: 'paused', queue: 'paused' });
  await bench.settle(await bench.running({ id: 'retrying', policy: { retries: 1 } }), fail({ delayMs: 9 }));
  await bench.running({ id: 'starting' });
  await bench.heartbeat(await bench.running({ id: 'running' }), { started: { pid: 1 } });
  await bench.running({ id: 'cancelling' });
  await bench.settle(await bench.running({ id: 'done' }), complete);
  await bench.settle(await bench.running({ id: 'relayed' }), { kind: 'forward', address: 'x' });
  await bench.settle(await bench.running({ id: 'failed' }), fail());
  await bench.add({ id: 'cancelled' }, { id: 'ready' });
  await bench.jobs.cancel([{ id: 'cancelled' }, { id: 'cancelling' }]);
}

export function listContract(open: Open): void {
  it('show the latest added first', async () => {
    const bench = await open();
    await bench.add({ id: 'b' }, { id: 'c', queue: 'other' });
    await bench.add({ id: 'a', priority: -5 });
    expect(await bench.jobs.list(newest())).toEqual({ jobs: await bench.jobs.find(['a', 'c', 'b']), next: null });
  });

  it('filter by queue, state, tag, name, worker and time, alone and combined', async () => {
    const bench = await open();
    await bench.add({ id: 'a', tags: ['x', 'y'], name: 'n' }, { id: 'b', queue: 'other', tags: ['y'], name: 'm' });
    bench.pass(10);
    await bench.add({ id: 'c', tags: ['x'], name: 'n' }, { id: 'd', name: 'n' });
    await bench.claim({ worker: 'w-1', limit: 1 });
    await bench.claim({ worker: 'w-2', queues: ['other'] });
    expect(await idsOf(bench, { queue: 'q' })).toEqual(['d', 'c', 'a']);
    expect(await idsOf(bench, { queue: 'nowhere' })).toEqual([]);
    expect(await idsOf(bench, { state: 'running' })).toEqual(['b', 'a']);
    expect(await idsOf(bench, { state: 'done' })).toEqual([]);
    expect(await idsOf(bench, { tag: 'x' })).toEqual(['c', 'a']);
    expect(await idsOf(bench, { tag: 'y' })).toEqual(['b', 'a']);
    expect(await idsOf(bench, { name: 'n' })).toEqual(['d', 'c', 'a']);
    expect(await idsOf(bench, { worker: 'w-2' })).toEqual(['b']);
    expect(await idsOf(bench, { since: START + 10 })).toEqual(['d', 'c']);
    expect(await idsOf(bench, { before: START + 10 })).toEqual(['b', 'a']);
    expect(await idsOf(bench, { since: START, before: START + 11 })).toEqual(['d', 'c', 'b', 'a']);
    expect(await idsOf(bench, { queue: 'q', tag: 'x', state: 'waiting', name: 'n', since: START + 1 })).toEqual(['c']);
    expect(await idsOf(bench, { tag: 'x', worker: 'w-1', state: 'running' })).toEqual(['a']);
    expect(await idsOf(bench, { tag: 'x', worker: 'w-2' })).toEqual([]);
  });

  it('follow a job through changes of queue, state, tags, name and worker', async () => {
    const bench = await open();
    const job = await bench.running({ id: 'a', tags: ['x'], name: 'n' });
    await bench.jobs.change([{ id: 'a', tags: ['y'], name: 'm' }]);
    expect(await idsOf(bench, { tag: 'x' })).toEqual([]);
    expect(await idsOf(bench, { tag: 'y', name: 'm' })).toEqual(['a']);
    await bench.settle(job, { kind: 'complete', next: { queue: 'second', delayMs: 0 } });
    expect(await idsOf(bench, { queue: 'q' })).toEqual([]);
    expect(await idsOf(bench, { worker: 'w' })).toEqual([]);
    expect(await idsOf(bench, { queue: 'second', state: 'waiting' })).toEqual(['a']);
    await bench.jobs.delete(['a']);
    expect(await idsOf(bench, { tag: 'y' })).toEqual([]);
    expect(await idsOf(bench, { queue: 'second' })).toEqual([]);
  });

  it('filter by failure group, of failed jobs only', async () => {
    const bench = await open();
    const failWith = async (id: string, group: string, retries = 0) => {
      const job = await bench.running({ id, policy: { retries } });
      await bench.settle(job, fail({ failure: { group, message: 'm', detail: null }, delayMs: 1 }));
    };
    await failWith('a', 'x');
    await failWith('b', 'y');
    await failWith('c', 'x', 1);
    await failWith('d', 'x');
    expect(await idsOf(bench, { group: 'x' })).toEqual(['d', 'a']);
    await bench.jobs.requeue([{ id: 'd' }]);
    expect(await idsOf(bench, { group: 'x' })).toEqual(['a']);
  });

  it('filter by every label', async () => {
    const bench = await open();
    await oneOfEach(bench);
    const labels = [
      ...(['draft', 'scheduled', 'retrying', 'paused', 'ready', 'starting', 'running'] as const),
      ...(['stalled', 'held', 'cancelling', 'done', 'relayed', 'failed', 'cancelled'] as const),
    ];
    for (const label of labels) expect([label, ...(await idsOf(bench, { label }))]).toEqual([label, label]);
  });

  it('page without gaps or repeats while jobs are added, changed and deleted', async () => {
    const bench = await open();
    const old = Array.from({ length: 25 }, (_, index) => `old-${String(index).padStart(2, '0')}`);
    await bench.add(...old.map((id) => ({ id })));
    const ids = await allPages(bench, { queue: 'q', limit: 4 }, async (page) => {
      await bench.add({ id: `new-${page}` }, { id: `newer-${page}`, priority: -1 });
      await bench.claim({ limit: 2 });
      if (page === 2) await bench.jobs.delete(['old-20']);
    });
    expect(ids).toEqual([...old].reverse());
  });

  it('page through a filtered list', async () => {
    const bench = await open();
    await bench.add(...Array.from({ length: 20 }, (_, index) => ({ id: String(index), tags: [`t${index % 3}`] })));
    await bench.jobs.cancel([0, 3, 6].map((id) => ({ id: String(id) })));
    const left = ['18', '15', '12', '9'];
    for (const limit of [1, 2, 3, 4, 5]) {
      expect(await allPages(bench, { tag: 't0', state: 'waiting', limit })).toEqual(left);
      expect(await allPages(bench, { tag: 't0', label: 'ready', limit })).toEqual(left);
    }
  });

  it('scan a bounded number of jobs for a page, and find everything in the end', async () => {
    const bench = await open();
    const many = Array.from({ length: 6_000 }, (_, index) => ({ id: `n-${index}` }));
    await bench.add({ id: 'needle', delayMs: 5 }, ...many.slice(0, 3_000));
    await bench.add(...many.slice(3_000), { id: 'last', delayMs: 5 });
    expect(await allPages(bench, { queue: 'q', label: 'scheduled', limit: 10 })).toEqual(['last', 'needle']);
  });

  it('peek only into a queue that would start a job', async () => {
    const bench = await open();
    await bench.add({ id: 'a' }, { id: 'b', queue: 'other' }, { id: 'c', delayMs: 5 });
    const peek = async () => (await bench.jobs.list({ queue: 'q', order: 'claim', limit: 5 })).jobs.map(({ id }) => id);
    expect(await peek()).toEqual(['a']);
    bench.pass(5);
    expect(await peek()).toEqual(['a', 'c']);
    await bench.setQueue('q', { state: 'paused' });
    expect(await peek()).toEqual([]);
  });
}
