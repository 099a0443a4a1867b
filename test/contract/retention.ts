/**
 * Retention: ended jobs are deleted by age and by count, oldest end first and a limited number at a time; nothing else
 * is.
 */
import { expect, it } from 'vitest';
import { DEFAULT_SETTINGS, type Keep, type QueueSettings } from '../../src/core/settings/settings.ts';
import type { Open } from './contract.ts';
import { complete, fail, type Workbench } from './workbench.ts';

const DAY_MS = 86_400_000;
const FOREVER: Keep = { ms: null, count: null, bytes: null };

function withRetention(keep: Partial<QueueSettings['retention']>): Partial<QueueSettings> {
  return { retention: { ...DEFAULT_SETTINGS.retention, ...keep } };
}

/** Adds and completes jobs, a millisecond apart. */
async function finish(bench: Workbench, ...ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    await bench.settle(await bench.running({ id }), complete);
    bench.pass(1);
  }
}

async function prune(bench: Workbench, limit = 100): Promise<number> {
  return (await bench.jobs.maintain({ limit })).pruned;
}

export function retentionContract(open: Open): void {
  it('keeps done and cancelled jobs for seven days and failed ones for thirty', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'done' }), complete);
    await bench.settle(await bench.running({ id: 'failed' }), fail());
    await bench.add({ id: 'cancelled' });
    await bench.jobs.cancel([{ id: 'cancelled' }]);
    await bench.add({ id: 'waiting', delayMs: 365 * DAY_MS });
    const ids = ['done', 'cancelled', 'failed', 'waiting'];
    bench.pass(7 * DAY_MS);
    expect(await prune(bench)).toBe(0);
    bench.pass(1);
    expect(await prune(bench)).toBe(2);
    expect(await bench.states(...ids)).toEqual([null, null, 'failed', 'waiting']);
    bench.pass(23 * DAY_MS);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states(...ids)).toEqual([null, null, null, 'waiting']);
    expect(await bench.jobs.count(['q'])).toMatchObject([{ waiting: 1, done: 0, failed: 0, cancelled: 0 }]);
  });

  it('keeps as many jobs as the queue sets, those that ended last', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: null, count: 2, bytes: null } }));
    await bench.add({ id: 'late' });
    const late = await bench.claimOne();
    await finish(bench, 'a', 'b', 'c');
    await bench.settle(late, complete);
    expect(await prune(bench)).toBe(2);
    expect(await bench.states('a', 'b', 'c', 'late')).toEqual([null, null, 'done', 'done']);
    expect(await prune(bench)).toBe(0);
  });

  it('reports what would be deleted and why, without deleting it', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: DAY_MS, count: 2, bytes: null }, failed: FOREVER }));
    await finish(bench, 'old');
    await bench.settle(await bench.running({ id: 'bad' }), fail());
    await bench.add({ id: 'draft', draft: true });
    const ask = (queue?: string) => bench.jobs.insight({ kind: 'prunable', ...(queue !== undefined && { queue }) });
    expect(await ask()).toEqual([]);
    bench.pass(DAY_MS);
    await finish(bench, 'a', 'b', 'c');
    expect(await ask()).toEqual([{ queue: 'q', kind: 'done', byAge: 1, byCount: 1, byBytes: 0, bytes: 4 }]);
    expect(await ask('p')).toEqual([]);
    expect(await bench.states('old', 'a')).toEqual(['done', 'done']);
    bench.pass(7 * DAY_MS);
    const late = [
      { queue: 'q', kind: 'draft', byAge: 1, byCount: 0, byBytes: 0, bytes: 0 },
      { queue: 'q', kind: 'done', byAge: 4, byCount: 0, byBytes: 0, bytes: 8 },
    ];
    expect(await ask('q')).toEqual(late);
    expect(await bench.jobs.maintain({ limit: 100 })).toMatchObject({ pruned: 4, expiredDrafts: 1 });
    expect(await ask()).toEqual([]);
  });

  it('keeps as many bytes as the queue sets, those that ended last', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: null, count: null, bytes: 20 } }));
    for (const [id, length] of Object.entries({ a: 10, b: 2, c: 8, d: 8 }))
      await bench.settle(await bench.running({ id, data: JSON.stringify('x'.repeat(length)) }), complete);
    const prunable = await bench.jobs.insight({ kind: 'prunable' });
    expect(prunable).toEqual([{ queue: 'q', kind: 'done', byAge: 0, byCount: 0, byBytes: 2, bytes: 16 }]);
    expect(await bench.jobs.maintain({ limit: 1 })).toMatchObject({ pruned: 1, more: true });
    expect(await bench.states('a', 'b', 'c', 'd')).toEqual([null, 'done', 'done', 'done']);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states('b', 'c', 'd')).toEqual([null, 'done', 'done']);
    expect(await prune(bench)).toBe(0);
  });

  it('deletes results before their jobs, by age, count or bytes, with a history row', async () => {
    const bench = await open();
    const results = (keep: Partial<Keep>) => bench.setQueue('q', withRetention({ results: { ...FOREVER, ...keep } }));
    const long = JSON.stringify('r'.repeat(3_000));
    for (const id of ['a', 'b', 'c', 'd']) {
      await bench.settle(await bench.running({ id }), { kind: 'complete', result: id === 'b' ? long : '"r"' });
      bench.pass(10);
    }
    await bench.settle(await bench.running({ id: 'none' }), complete);
    const kept = async () => (await bench.jobs.find(['a', 'b', 'c', 'd'])).map((job) => job?.result?.length ?? 0);
    const take = async (limit = 10) => (await bench.jobs.maintain({ limit })).results;
    expect(await take()).toBe(0);
    await results({ bytes: 3_011 });
    expect(await take()).toBe(0);
    await results({ bytes: 3_005 });
    const prunable = { queue: 'q', kind: 'results', byAge: 0, byCount: 0, byBytes: 2, bytes: 3_005 };
    expect(await bench.jobs.insight({ kind: 'prunable' })).toEqual([prunable]);
    expect([await take(1), await kept()]).toEqual([1, [0, 3_002, 3, 3]]);
    await results({ count: 2 });
    expect([await take(), await take(), await kept()]).toEqual([1, 0, [0, 0, 3, 3]]);
    await results({ ms: 15 });
    expect([await take(), await kept()]).toEqual([1, [0, 0, 0, 3]]);
    expect(await bench.states('a', 'b', 'c')).toEqual(['done', 'done', 'done']);
    expect((await bench.jobs.history('a')).at(-1)).toMatchObject({ event: 'changed', note: 'result pruned' });
    const [storage] = await bench.jobs.insight({ kind: 'storage', queue: 'q' });
    expect(storage).toMatchObject({ done: { count: 5 }, results: { count: 1, bytes: 3 } });
    await bench.jobs.requeue([{ id: 'a' }]);
    await bench.settle(await bench.claimOne(), { kind: 'complete', result: '1' });
    bench.pass(20);
    expect([await take(), await kept()]).toEqual([2, [0, 0, 0, 0]]);
  });

  it('reports how many days of statistics would be deleted', async () => {
    const bench = await open();
    await bench.setQueue('q', { statsDays: 2, histogramDays: 1 });
    await finish(bench, 'a');
    bench.pass(2 * DAY_MS);
    const [prunable] = await bench.jobs.insight({ kind: 'prunable' });
    expect(prunable).toMatchObject({ kind: 'statistics', byAge: 2, byCount: 0, byBytes: 0 });
    expect(prunable?.bytes).toBeGreaterThan(80);
    await prune(bench);
    expect(await bench.jobs.insight({ kind: 'prunable' })).toEqual([]);
  });

  it('keeps nothing or everything if the queue sets that', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: null, count: 0, bytes: null }, failed: FOREVER }));
    await finish(bench, 'a');
    await bench.settle(await bench.running({ id: 'b' }), fail());
    bench.pass(1_000 * DAY_MS);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states('a', 'b')).toEqual([null, 'failed']);
  });

  it('applies age and count together', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: 10, count: 1, bytes: null } }));
    await finish(bench, 'a', 'b');
    bench.pass(8);
    await finish(bench, 'c', 'd');
    await prune(bench);
    await prune(bench);
    expect(await bench.states('a', 'b', 'c', 'd')).toEqual([null, null, null, 'done']);
  });

  it('deletes in small steps, oldest first, and reports whether there is more', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: 0, count: null, bytes: null } }));
    await finish(bench, 'a', 'b', 'c');
    expect(await bench.jobs.maintain({ limit: 2 })).toMatchObject({ pruned: 2, more: true });
    expect(await bench.states('a', 'b', 'c')).toEqual([null, null, 'done']);
    expect(await bench.jobs.maintain({ limit: 2 })).toMatchObject({ pruned: 1, more: false });
    expect(await bench.jobs.maintain({ limit: 2 })).toEqual({
      overtaken: 0,
      expiredDrafts: 0,
      pruned: 0,
      results: 0,
      forgottenWorkers: 0,
      more: false,
    });
  });

  it('counts the age of a requeued job from its latest end', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: 100, count: null, bytes: null } }));
    await finish(bench, 'a');
    bench.pass(90);
    await bench.jobs.requeue([{ id: 'a' }]);
    bench.pass(100);
    expect(await prune(bench)).toBe(0);
    await bench.settle(await bench.claimOne(), complete);
    bench.pass(100);
    expect(await prune(bench)).toBe(0);
    bench.pass(1);
    expect(await prune(bench)).toBe(1);
  });

  it('uses the settings of each queue', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: 0, count: null, bytes: null } }));
    await finish(bench, 'a');
    await bench.settle(await bench.running({ id: 'b', queue: 'other' }), complete);
    bench.pass(1);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states('a', 'b')).toEqual([null, 'done']);
  });

  it('deletes nothing because another job ended', async () => {
    const bench = await open();
    await bench.setQueue('q', withRetention({ done: { ms: 0, count: 0, bytes: null } }));
    await finish(bench, 'a', 'b', 'c');
    expect(await bench.states('a', 'b', 'c')).toEqual(['done', 'done', 'done']);
  });
}
