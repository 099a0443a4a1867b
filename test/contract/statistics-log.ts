/**
 * Statistics that a store appends to a log and aggregates later: at every moment it returns what the memory store returns,
 * which counts at once. The calls never say when the log is aggregated.
 */
import { expect, test } from 'vitest';
import type { JobStore } from '../../src/core/ports/job-store.ts';
import { DAY_MS } from '../../src/core/statistics/histogram.ts';
import { MAX_CELLS, MAX_LOG_ENTRIES } from '../../src/core/statistics/statistics.ts';
import { openMemoryStore } from '../../src/stores/memory/open-memory-store.ts';
import { testSize } from '../support/test-size.ts';
import type { Open } from './contract.ts';
import { complete, fail, type Outcome, release, resend, retry, Workbench } from './workbench.ts';

/** At small size no divisor of the number of pending entries, so that the looks come at different moments between two aggregations. */
const STEPS_PER_LOOK = testSize({ small: 23, full: 10 });
const KINDS = ['queue', 'tag', 'worker'] as const;
const SPANS = ['minute', 'hour'] as const;
const OUTCOMES: readonly Outcome[] = [
  complete,
  { kind: 'complete', result: '"a result"' },
  fail({ final: true }),
  retry(50),
  release,
  resend(20),
  { kind: 'complete', next: { queue: 'p', delayMs: 0 } },
];

/** Everything that the port shows of statistics. Sums of doubles depend on their order: nine digits are compared. */
async function observe(jobs: JobStore): Promise<unknown> {
  const statistics = await Promise.all(KINDS.map((by) => jobs.insight({ kind: 'statistics', by })));
  const series = await Promise.all(SPANS.map((span) => jobs.insight({ kind: 'series', span })));
  const groups = await jobs.insight({ kind: 'failures', past: true });
  const prunable = await jobs.insight({ kind: 'prunable' });
  // The bytes of cells are those that a store writes.
  const surplus = prunable.map((each) => (each.kind === 'statistics' ? { ...each, bytes: each.bytes > 0 } : each));
  return rounded({ statistics, series, groups, surplus, storage: await jobs.insight({ kind: 'storage' }) });
}

function rounded(value: unknown): unknown {
  const isSum = (key: string) => key === 'mean' || key === 'variance';
  const text = JSON.stringify(value, (key, each: unknown) => (isSum(key) ? Number(each).toPrecision(9) : each));
  return JSON.parse(text) as unknown;
}

/** The store under test and the memory store, which get the same calls at the same time. */
class Pair {
  readonly benches: readonly Workbench[];

  constructor(...benches: readonly Workbench[]) {
    this.benches = benches;
  }

  async both(call: (bench: Workbench) => Promise<unknown>): Promise<void> {
    for (const bench of this.benches) await call(bench);
  }

  async expectEqual(when: string): Promise<void> {
    const [own, memory] = await Promise.all(this.benches.map(({ jobs }) => observe(jobs)));
    expect({ when, seen: own }).toEqual({ when, seen: memory });
  }
}

async function openPair(open: Open): Promise<Pair> {
  return new Pair(await open(), new Workbench(openMemoryStore({ clock: 'caller' })));
}

/** Adds, claims and settles two jobs: at least two entries. */
async function work(bench: Workbench, step: number): Promise<void> {
  const queue = step % 3 === 0 ? 'p' : 'q';
  const tags = step % 4 === 0 ? [] : [`t${step % 5}`, 'all'];
  await bench.add(
    ...['a', 'b'].map((name) => ({ id: `${name}${step}`, queue, tags, data: `"${'x'.repeat(step % 9)}"` })),
  );
  bench.pass(1 + ((step * 37) % 900));
  const claimed = await bench.claim({ queues: ['q', 'p'], worker: `w${step % 2}`, limit: 2 });
  bench.pass(1 + ((step * 13_337) % 90_000));
  for (const [at, job] of claimed.entries())
    await bench.settle(job, OUTCOMES[(step + at) % OUTCOMES.length] as Outcome);
  if (step % 11 === 0) await bench.jobs.delete([`a${step - 1}`]);
  if (step % 13 === 0) await bench.jobs.requeue([{ id: `b${step - 1}` }]);
}

export function statisticsLogContract(open: Open): void {
  test('Readers return the same before, while and after more entries than may be pending were aggregated.', async () => {
    const pair = await openPair(open);
    for (let step = 1; step <= MAX_LOG_ENTRIES; step += 1) {
      await pair.both((bench) => work(bench, step));
      if (step === 1 || step % STEPS_PER_LOOK === 0) await pair.expectEqual(`after step ${step}`);
    }
    await pair.both((bench) => bench.jobs.maintain({ limit: 1_000 }));
    await pair.expectEqual('after maintenance');
    await pair.both((bench) => work(bench, MAX_LOG_ENTRIES + 1));
    await pair.expectEqual('after the entries that follow maintenance');
  });

  test('Entries that are pending when their day expires are pruned with it, a limited number at a time.', async () => {
    const pair = await openPair(open);
    await pair.both((bench) => bench.setQueue('q', { statsDays: 2, histogramDays: 1 }));
    for (let step = 1; step <= 8; step += 1) {
      await pair.both((bench) => work(bench, step));
      await pair.both(async (bench) => bench.pass(DAY_MS / 3));
      await pair.expectEqual(`after step ${step}`);
      if (step % 3 === 0) await pair.both((bench) => bench.jobs.maintain({ limit: 2 }));
      await pair.expectEqual(`after the maintenance of step ${step}`);
    }
  });

  test('Pending entries count for the limit of cells of a day, in the order of the calls.', async () => {
    const pair = await openPair(open);
    const tagsOf = (from: number) => Array.from({ length: 100 }, (_, at) => `t${from * 100 + at}`);
    for (let from = 0; from <= MAX_CELLS / 100; from += 1) {
      // The last job of the day has a failure group too.
      const outcome = from === MAX_CELLS / 100 ? fail({ final: true }) : complete;
      await pair.both(async (bench) =>
        bench.settle(await bench.running({ id: `j${from}`, tags: tagsOf(from) }), outcome),
      );
      if (from === MAX_CELLS / 200) await pair.both((bench) => bench.jobs.maintain({ limit: 100 }));
    }
    await pair.expectEqual('before maintenance');
    await pair.both((bench) => bench.jobs.maintain({ limit: 100 }));
    await pair.expectEqual('after maintenance');
  });

  test('A call with more groups of alike jobs than entries may be pending counts all of them.', async () => {
    const pair = await openPair(open);
    const jobs = Array.from({ length: MAX_LOG_ENTRIES + 50 }, (_, at) => ({
      id: `j${at}`,
      queue: `q${at % 30}`,
      tags: Array.from({ length: 20 }, (_tag, tag) => `t${at}-${tag}`),
    }));
    const queues = [...new Set(jobs.map(({ queue }) => queue))];
    await pair.both((bench) => bench.add(...jobs));
    await pair.both(async (bench) => {
      const claimed = await bench.claim({ queues, limit: jobs.length });
      bench.pass(1_234);
      await bench.jobs.settle(claimed.map(({ id, lease }) => ({ kind: 'complete', id, token: lease.token })));
    });
    await pair.expectEqual('after the settlement');
  });
}
