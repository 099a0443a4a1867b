import { describe, expect, it, onTestFinished } from 'vitest';
import { openMemoryStore } from '../stores/memory/open-memory-store.ts';
import { startThroughput } from './throughput.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Of a day to come: the store's own clock must find nothing expired. */
const NOON = (Math.floor(Date.now() / DAY_MS) + 1.5) * DAY_MS;

describe('throughput', () => {
  it('counts the ends of each minute, by queue and in all', async () => {
    const { counts, end, pass } = await aNode();
    await end('a', 'complete');
    pass(MINUTE_MS);
    await end('a', 'complete');
    await end('b', 'fail');
    expect(counts.minutes(2)).toEqual({ done: [1, 1], failed: [0, 1] });
    expect(counts.minutes(2, 'b')).toEqual({ done: [0, 0], failed: [0, 1] });
    expect(counts.doneToday()).toBe(2);
  });

  it('begins again at midnight UTC, and forgets what is older than a day', async () => {
    const { counts, end, pass } = await aNode();
    await end('a', 'complete');
    pass(DAY_MS);
    expect(counts.doneToday()).toBe(0);
    await end('a', 'complete');
    expect(counts.doneToday()).toBe(1);
    expect(counts.minutes(1_500).done.reduce((sum, each) => sum + each)).toBe(1);
  });

  it('goes on after a restart of its node', async () => {
    const node = await aNode();
    await node.end('a', 'complete');
    await node.counts.stop();
    const again = await node.start();
    await node.end('a', 'complete');
    expect(again.doneToday()).toBe(2);
  });
});

async function aNode() {
  const store = openMemoryStore({ clock: 'caller' });
  let now = NOON;
  let id = 0;
  const troubles: unknown[] = [];
  const start = async () => {
    const counts = await startThroughput({
      store,
      key: 'node',
      now: () => now,
      onTrouble: (_what, error) => void troubles.push(error),
    });
    onTestFinished(async () => {
      await counts.stop();
      expect(troubles).toEqual([]);
    });
    return counts;
  };
  const end = async (queue: string, kind: 'complete' | 'fail') => {
    id += 1;
    await store.jobs.add([{ id: String(id), queue, data: '1' }], { now });
    const request = { worker: 'w', queues: [queue], limit: 1, requestId: String(id) };
    const [job] = (await store.jobs.claim(request, { now })).jobs;
    const target = { id: String(id), token: job?.lease?.token ?? 0 };
    const failure = { group: 'g', message: 'm', detail: null };
    const said =
      kind === 'complete'
        ? { ...target, kind: 'complete' as const }
        : { ...target, kind: 'fail' as const, failure, delayMs: 0 };
    await store.jobs.settle([said], { now });
    await Promise.resolve();
  };
  return { counts: await start(), start, end, pass: (ms: number) => void (now += ms) };
}
