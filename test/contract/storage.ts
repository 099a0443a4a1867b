/** The size of a queue's ended jobs and results, in numbers and bytes, correct after every change. */
import { expect, it } from 'vitest';
import type { QueueStorage } from '../../src/core/statistics/storage.ts';
import type { Open } from './contract.ts';
import { complete, fail, type Workbench } from './workbench.ts';

const LONG = JSON.stringify('x'.repeat(5_000));

async function kept(bench: Workbench, queue = 'q'): Promise<Partial<QueueStorage>> {
  const [{ queue: _queue, ...found } = { queue }] = await bench.jobs.insight({ kind: 'storage', queue });
  return found;
}

const held = (count: number, bytes: number) => ({ count, bytes });
const NONE = held(0, 0);

export function storageContract(open: Open): void {
  it('counts the texts of ended jobs in bytes, by state, and their results', async () => {
    const bench = await open();
    await bench.add({ id: 'waiting', data: '"aa"', delayMs: 1_000_000 });
    expect(await kept(bench)).toEqual({ done: NONE, failed: NONE, cancelled: NONE, results: NONE, logs: NONE });
    await bench.settle(await bench.running({ id: 'a', data: '"é"' }), complete);
    await bench.settle(await bench.running({ id: 'b', data: '{}' }), { kind: 'complete', result: '"😀"' });
    await bench.settle(await bench.running({ id: 'c', data: LONG }), { kind: 'complete', result: LONG });
    await bench.settle(await bench.running({ id: 'd', data: '[1]' }), fail());
    await bench.jobs.cancel([{ id: 'waiting' }]);
    const all = {
      done: held(3, 4 + 2 + 6 + 2 * LONG.length),
      failed: held(1, 3),
      cancelled: held(1, 4),
      results: held(2, 6 + LONG.length),
      logs: NONE,
    };
    expect(await kept(bench)).toEqual(all);
    expect(await kept(bench, 'p')).toEqual({ done: NONE, failed: NONE, cancelled: NONE, results: NONE, logs: NONE });
    expect(await bench.jobs.insight({ kind: 'storage' })).toEqual([{ queue: 'q', ...all }]);
  });

  it('counts several jobs that end in one call, including their checkpoints', async () => {
    const bench = await open();
    const jobs = [await bench.running({ id: 'a', data: '1' }), await bench.running({ id: 'b', data: '22' })];
    await bench.jobs.heartbeat(jobs.map(({ id, lease }) => ({ id, token: lease.token, checkpoint: '"here"' })));
    await bench.jobs.settle(jobs.map(({ id, lease }) => ({ id, token: lease.token, kind: 'complete', result: '3' })));
    expect(await kept(bench)).toMatchObject({ done: held(2, 3 + 12 + 2), results: held(2, 2) });
  });

  it('lists jobs by their end, from a time on', async () => {
    const bench = await open();
    const late = await bench.running({ id: 'late' });
    for (const id of ['a', 'b', 'c']) {
      await bench.settle(await bench.running({ id }), id === 'b' ? fail() : complete);
      bench.pass(10);
    }
    await bench.settle(late, complete);
    const ends = (state: 'done' | 'failed', from: number, limit = 10) =>
      bench.jobs.insight({ kind: 'ended', queue: 'q', state, from, limit });
    const all = await ends('done', 0);
    expect(all.map(({ id }) => id)).toEqual(['a', 'c', 'late']);
    expect((await bench.jobs.find(['c']))[0]?.endedAt).toBe(all[1]?.endedAt);
    expect(await ends('done', all[1]?.endedAt ?? 0, 1)).toEqual([all[1]]);
    expect(await ends('failed', 0)).toMatchObject([{ id: 'b' }]);
    expect(await ends('done', (all[2]?.endedAt ?? 0) + 1)).toEqual([]);
  });

  it('lists running jobs by the end of their lease, once it has ended', async () => {
    const bench = await open();
    const stalled = (limit = 10) => bench.jobs.insight({ kind: 'stalled', queue: 'q', limit });
    const first = await bench.running({ id: 'first' });
    bench.pass(10);
    const second = await bench.running({ id: 'second' });
    expect(await stalled()).toEqual([]);
    bench.pass(second.lease.until - first.lease.claimedAt);
    await bench.running({ id: 'held', queue: 'other' });
    const ends = [first, second].map(({ id, lease }) => ({ id, until: lease.until }));
    expect(await stalled()).toEqual(ends);
    expect(await stalled(1)).toEqual(ends.slice(0, 1));
    expect(await bench.jobs.insight({ kind: 'stalled', queue: 'other', limit: 1 })).toEqual([]);
  });

  it('does not count deleted, requeued or pruned jobs', async () => {
    const bench = await open();
    for (const id of ['a', 'b', 'c'])
      await bench.settle(await bench.running({ id, data: LONG }), { kind: 'complete', result: '"r"' });
    await bench.jobs.delete(['a']);
    expect(await kept(bench)).toMatchObject({ done: held(2, 2 * LONG.length + 6), results: held(2, 6) });
    await bench.jobs.requeue([{ id: 'b', queue: 'p' }]);
    expect(await kept(bench)).toMatchObject({ done: held(1, LONG.length + 3), results: held(1, 3) });
    expect(await kept(bench, 'p')).toMatchObject({ done: NONE });
    bench.pass(8 * 86_400_000);
    expect((await bench.jobs.maintain({ limit: 10 })).pruned).toBe(1);
    expect(await kept(bench)).toEqual({ done: NONE, failed: NONE, cancelled: NONE, results: NONE, logs: NONE });
  });
}
