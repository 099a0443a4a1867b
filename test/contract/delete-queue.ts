/** Deleting a queue: it accepts no jobs until its settings are written again; other queues are not affected. */
import { expect, it } from 'vitest';
import type { Store } from '../../src/core/ports/store.ts';
import { deletedQueues, deleteQueue } from '../../src/core/settings/delete-queue.ts';
import type { Open } from './contract.ts';
import { complete, outcomeOf, type Workbench } from './workbench.ts';

/** The store with the test's time. */
const storeOf = ({ store, jobs, records }: Workbench): Store => ({ ...store, jobs, records });

export function deleteQueueContract(open: Open): void {
  it('deletes its jobs and settings, and then refuses jobs from every call', async () => {
    const bench = await open();
    await bench.setQueue('old', { priority: 7 });
    await bench.add({ id: 'done', queue: 'old' });
    await bench.settle(await bench.claimOne({ queues: ['old'] }), complete);
    await bench.add({ id: 'a', queue: 'old' }, { id: 'b', queue: 'old', draft: true }, { id: 'elsewhere' });
    expect(await deleteQueue(storeOf(bench), 'old')).toEqual({ ok: true, jobs: 3 });
    expect(await bench.states('done', 'a', 'b', 'elsewhere')).toEqual([null, null, null, 'waiting']);

    const results = await bench.add(
      { id: 'plain', queue: 'old' },
      { id: 'plain-2', queue: 'old' },
      { id: 'draft', queue: 'old', draft: true },
      { id: 'tagged', queue: 'old', tags: ['x'], priority: 3 },
      { id: 'other' },
    );
    expect(results.map(outcomeOf)).toEqual([...Array.from({ length: 4 }, () => 'queue-deleted'), 'ok']);
    expect(results[0]).toMatchObject({
      refusal: { message: 'queue old was deleted and accepts no jobs: create it again first' },
    });
    // One job alone too: a store may have a fast path for plain jobs.
    expect((await bench.add({ id: 'alone', queue: 'old' })).map(outcomeOf)).toEqual(['queue-deleted']);
    expect((await bench.jobs.move([{ id: 'elsewhere', queue: 'old' }])).map(outcomeOf)).toEqual(['queue-deleted']);
    await bench.jobs.cancel([{ id: 'elsewhere' }]);
    expect((await bench.jobs.requeue([{ id: 'elsewhere', queue: 'old' }])).map(outcomeOf)).toEqual(['queue-deleted']);
    expect(await deletedQueues(storeOf(bench))).toEqual(new Set(['old']));
  });

  it('exists again when its settings are written again, without the old settings', async () => {
    const bench = await open();
    await bench.add({ id: 'a', queue: 'old' });
    await deleteQueue(storeOf(bench), 'old');
    await bench.setQueue('old', {});
    expect((await bench.add({ id: 'b', queue: 'old' })).map(outcomeOf)).toEqual(['ok']);
    expect(await bench.claimIds({ queues: ['old'] })).toEqual(['b']);
    expect(await deletedQueues(storeOf(bench))).toEqual(new Set());
  });

  it('is refused while a job runs, even one that started meanwhile; the queue is then unchanged', async () => {
    const bench = await open();
    await bench.setQueue('old', { priority: 7 });
    await bench.running({ id: 'a', queue: 'old' });
    const refused = await deleteQueue(storeOf(bench), 'old');
    expect(refused).toMatchObject({
      ok: false,
      refusal: { message: 'queue old cannot be deleted: 1 of its jobs is running; cancel first' },
    });
    // As if it had started between the first count and the put.
    let counts = 0;
    const count = bench.jobs.count;
    const late: Store['jobs'] = {
      ...bench.jobs,
      count: async (queues, options) => {
        counts += 1;
        const found = await count(queues, options);
        return counts === 1 ? found.map((each) => ({ ...each, running: 0 })) : found;
      },
    };
    expect(outcomeOf(await deleteQueue({ ...storeOf(bench), jobs: late }, 'old'))).toBe('wrong-state');
    expect(JSON.parse((await bench.records.get('queue', 'old'))?.value ?? '')).toEqual({ priority: 7 });
    expect((await bench.add({ id: 'b', queue: 'old' })).map(outcomeOf)).toEqual(['ok']);
  });

  it('deletes all of many jobs', async () => {
    const bench = await open();
    await bench.add(...Array.from({ length: 600 }, (_, n) => ({ id: `job-${n}`, queue: 'old' })));
    expect(await deleteQueue(storeOf(bench), 'old')).toEqual({ ok: true, jobs: 600 });
    expect(await bench.jobs.count(['old'])).toMatchObject([{ waiting: 0 }]);
  });

  it('is refused for a system queue', async () => {
    const bench = await open();
    expect(outcomeOf(await deleteQueue(storeOf(bench), 'hooks'))).toBe('wrong-state');
    expect(await bench.records.get('queue', 'hooks')).toBeNull();
  });
}
