/** Throughput over time: ends by minute and by hour, counted with the settlement and bounded. */
import { expect, test } from 'vitest';
import type { SeriesQuery } from '../../src/core/ports/insight.ts';
import { type SeriesPoint, SPANS } from '../../src/core/statistics/series.ts';
import type { Open } from './contract.ts';
import { complete, fail, release, retry, type Workbench } from './workbench.ts';

const MINUTE = SPANS.minute.ms;
const HOUR = SPANS.hour.ms;

const ask = (bench: Workbench, question: SeriesQuery): Promise<readonly SeriesPoint[]> =>
  bench.jobs.insight({ kind: 'series', ...question });
const short = (points: readonly SeriesPoint[]) => points.map(({ at, done, failed }) => [at, done, failed]);
const begin = (at: number, ms: number): number => Math.floor(at / ms) * ms;

/** A store may keep ends in a log until maintenance. */
const MOMENTS: readonly [string, (bench: Workbench) => Promise<unknown>][] = [
  ['while ends may be in the log', async () => undefined],
  ['after maintenance', (bench) => bench.jobs.maintain({ limit: 100 })],
];

async function done(bench: Workbench, id: string, queue = 'q'): Promise<void> {
  await bench.settle(await bench.running({ id, queue }), complete);
}

export function seriesContract(open: Open): void {
  test('Done and failed jobs are counted in their minute and hour, and nothing else is.', async () => {
    const bench = await open();
    bench.now = begin(bench.now, HOUR);
    expect(await ask(bench, { span: 'minute' })).toEqual([]);
    const first = bench.now;
    await done(bench, 'a');
    await bench.settle(await bench.running({ id: 'b' }), fail());
    await bench.settle(await bench.running({ id: 'c', policy: { retries: 1 } }), retry(10 * HOUR));
    await bench.settle(await bench.running({ id: 'd', queue: 'other' }), release);
    await bench.add({ id: 'e' });
    bench.pass(MINUTE);
    await done(bench, 'f', 'third');
    await bench.settle(await bench.claimOne({ queues: ['q'] }), complete);
    expect(await ask(bench, { span: 'minute' })).toEqual([
      { queue: 'q', at: first, done: 1, failed: 1 },
      { queue: 'q', at: first + MINUTE, done: 1, failed: 0 },
      { queue: 'third', at: first + MINUTE, done: 1, failed: 0 },
    ]);
    expect(await ask(bench, { span: 'hour', queue: 'q' })).toEqual([{ queue: 'q', at: first, done: 2, failed: 1 }]);
    expect(await ask(bench, { span: 'hour', queue: 'nobody' })).toEqual([]);
  });

  test('A batch is counted completely, and a repeated settlement once.', async () => {
    const bench = await open();
    await bench.add(...Array.from({ length: 20 }, (_, at) => ({ id: `j${at}`, queue: at % 2 === 0 ? 'q' : 'r' })));
    const jobs = await bench.claim({ queues: ['q', 'r'], limit: 20 });
    const settlements = jobs.map(({ id, lease }) => ({ kind: 'complete' as const, id, token: lease.token }));
    await bench.jobs.settle(settlements);
    await bench.jobs.settle(settlements);
    expect((await ask(bench, { span: 'minute' })).map((each) => [each.queue, each.done])).toEqual([
      ['q', 10],
      ['r', 10],
    ]);
  });

  test.each(MOMENTS)(
    'Minutes expire after two hours, hours after sixty days, and each ring slot is reused %s.',
    async (_when, afterEnds) => {
      const bench = await open();
      bench.now = begin(bench.now, 24 * HOUR);
      const first = bench.now;
      await done(bench, 'a');
      bench.pass(119 * MINUTE);
      await done(bench, 'b');
      expect(short(await ask(bench, { span: 'minute' }))).toEqual([
        [first, 1, 0],
        [first + 119 * MINUTE, 1, 0],
      ]);
      bench.pass(MINUTE);
      expect(short(await ask(bench, { span: 'minute' }))).toEqual([[first + 119 * MINUTE, 1, 0]]);
      await afterEnds(bench);
      // The page that reuses the first one's ring slot.
      bench.now = first + SPANS.minute.cells * SPANS.minute.slots * MINUTE;
      await done(bench, 'c');
      expect(short(await ask(bench, { span: 'minute' }))).toEqual([
        [first + 119 * MINUTE, 1, 0],
        [bench.now, 1, 0],
      ]);
      await afterEnds(bench);
      bench.now = first + (SPANS.hour.kept - 1) * HOUR;
      expect((await ask(bench, { span: 'hour' })).map(({ at }) => at)).toEqual([first, first + HOUR, first + 2 * HOUR]);
      bench.pass(HOUR);
      expect((await ask(bench, { span: 'hour' })).map(({ at }) => at)).toEqual([first + HOUR, first + 2 * HOUR]);
      bench.now = first + SPANS.hour.cells * SPANS.hour.slots * HOUR;
      await done(bench, 'd');
      expect(short(await ask(bench, { span: 'hour' }))).toEqual([[bench.now, 1, 0]]);
    },
  );

  test.each(MOMENTS)('A clock that is set back removes no later page %s.', async (_when, afterEnds) => {
    const bench = await open();
    bench.now = begin(bench.now, 24 * HOUR);
    const later = bench.now + SPANS.minute.cells * SPANS.minute.slots * MINUTE;
    const earlier = bench.now;
    bench.now = later;
    await done(bench, 'a');
    await afterEnds(bench);
    bench.now = earlier;
    await done(bench, 'b');
    bench.now = later;
    expect(short(await ask(bench, { span: 'minute' }))).toEqual([[later, 1, 0]]);
  });
}
