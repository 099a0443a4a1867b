/** Retention: ended jobs go by age and by number, the oldest end first and a few at a time; nothing else goes. */
import { expect, it } from 'vitest';
import { DEFAULT_SETTINGS, type Keep, type QueueSettings } from '../../src/core/settings.ts';
import type { Open } from './contract.ts';
import { complete, fail, type Workbench } from './workbench.ts';

const DAY_MS = 86_400_000;
const FOREVER: Keep = { ms: null, count: null };

function keeping(keep: Partial<QueueSettings['retention']>): Partial<QueueSettings> {
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

  it('keeps as many as the queue says, those that ended last', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: null, count: 2 } }));
    await bench.add({ id: 'late' });
    const late = await bench.claimOne();
    await finish(bench, 'a', 'b', 'c');
    await bench.settle(late, complete);
    expect(await prune(bench)).toBe(2);
    expect(await bench.states('a', 'b', 'c', 'late')).toEqual([null, null, 'done', 'done']);
    expect(await prune(bench)).toBe(0);
  });

  it('tells what would go and why, and takes nothing by telling', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: DAY_MS, count: 2 }, failed: FOREVER }));
    await finish(bench, 'old');
    await bench.settle(await bench.running({ id: 'bad' }), fail());
    await bench.add({ id: 'draft', draft: true });
    const ask = (queue?: string) => bench.jobs.insight({ kind: 'prunable', ...(queue !== undefined && { queue }) });
    expect(await ask()).toEqual([]);
    bench.pass(DAY_MS);
    await finish(bench, 'a', 'b', 'c');
    expect(await ask()).toEqual([{ queue: 'q', state: 'done', byAge: 1, byCount: 1 }]);
    expect(await ask('p')).toEqual([]);
    expect(await bench.states('old', 'a')).toEqual(['done', 'done']);
    bench.pass(7 * DAY_MS);
    const late = [
      { queue: 'q', state: 'draft', byAge: 1, byCount: 0 },
      { queue: 'q', state: 'done', byAge: 4, byCount: 0 },
    ];
    expect(await ask('q')).toEqual(late);
    expect(await bench.jobs.maintain({ limit: 100 })).toMatchObject({ pruned: 4, expiredDrafts: 1 });
    expect(await ask()).toEqual([]);
  });

  it('keeps nothing where the queue says so, and everything where it says that', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: null, count: 0 }, failed: FOREVER }));
    await finish(bench, 'a');
    await bench.settle(await bench.running({ id: 'b' }), fail());
    bench.pass(1_000 * DAY_MS);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states('a', 'b')).toEqual([null, 'failed']);
  });

  it('goes by age and number together', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: 10, count: 1 } }));
    await finish(bench, 'a', 'b');
    bench.pass(8);
    await finish(bench, 'c', 'd');
    await prune(bench);
    await prune(bench);
    expect(await bench.states('a', 'b', 'c', 'd')).toEqual([null, null, null, 'done']);
  });

  it('goes in small steps, the oldest first, and says whether there is more', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: 0, count: null } }));
    await finish(bench, 'a', 'b', 'c');
    expect(await bench.jobs.maintain({ limit: 2 })).toMatchObject({ pruned: 2, more: true });
    expect(await bench.states('a', 'b', 'c')).toEqual([null, null, 'done']);
    expect(await bench.jobs.maintain({ limit: 2 })).toMatchObject({ pruned: 1, more: false });
    expect(await bench.jobs.maintain({ limit: 2 })).toEqual({
      overtaken: 0,
      expiredDrafts: 0,
      pruned: 0,
      forgottenWorkers: 0,
      more: false,
    });
  });

  it('counts the life of a requeued job from its latest end', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: 100, count: null } }));
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

  it('goes by the settings of each queue', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: 0, count: null } }));
    await finish(bench, 'a');
    await bench.settle(await bench.running({ id: 'b', queue: 'other' }), complete);
    bench.pass(1);
    expect(await prune(bench)).toBe(1);
    expect(await bench.states('a', 'b')).toEqual([null, 'done']);
  });

  it('removes nothing because another job ended', async () => {
    const bench = await open();
    await bench.setQueue('q', keeping({ done: { ms: 0, count: 0 } }));
    await finish(bench, 'a', 'b', 'c');
    expect(await bench.states('a', 'b', 'c')).toEqual(['done', 'done', 'done']);
  });
}
