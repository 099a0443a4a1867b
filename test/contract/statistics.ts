/** Statistics by queue and UTC day, compared with the history of the jobs. */
import { expect, it } from 'vitest';
import type { HistoryRow } from '../../src/core/job/history.ts';
import type { RunningJob } from '../../src/core/job/job.ts';
import type { StatisticsQuery } from '../../src/core/ports/insight.ts';
import type { Settlement } from '../../src/core/ports/job-store.ts';
import { bucketOf, bucketStart, DAY_MS } from '../../src/core/statistics/histogram.ts';
import { type DayStatistics, dayOf, dayText, MAX_CELLS } from '../../src/core/statistics/statistics.ts';
import { testSize } from '../support/test-size.ts';
import type { Open } from './contract.ts';
import { complete, fail, LEASE_MS, type Outcome, release, resend, retry, START, type Workbench } from './workbench.ts';

const NEXT_MIDNIGHT = (dayOf(START) + 1) * DAY_MS;

function ask(bench: Workbench, question: StatisticsQuery = {}): Promise<readonly DayStatistics[]> {
  return bench.jobs.insight({ kind: 'statistics', ...question });
}

/** Computes the spread of durations exactly. */
function spreadOf(durations: readonly number[]) {
  const whole = durations.map(BigInt);
  const [count, sum] = [BigInt(whole.length), whole.reduce((all, each) => all + each, 0n)];
  const squares = whole.reduce((all, each) => all + each * each, 0n);
  const histogram = new Map<number, number>();
  for (const ms of durations) {
    const from = bucketStart(bucketOf(ms));
    histogram.set(from, (histogram.get(from) ?? 0) + 1);
  }
  return {
    count: durations.length,
    mean: count === 0n ? 0 : Number(sum) / Number(count),
    variance: count < 2n ? 0 : Number(count * squares - sum * sum) / Number(count * (count - 1n)),
    histogram: [...histogram].sort(([a], [b]) => a - b),
  };
}

/** Returns the relative error of the variance. */
function expectSpread(actual: DayStatistics['wait'], expected: ReturnType<typeof spreadOf>): number {
  expect([actual.count, actual.histogram]).toEqual([expected.count, expected.histogram]);
  for (const name of ['mean', 'variance'] as const)
    expect(Math.abs(actual[name] - expected[name])).toBeLessThanOrEqual(1e-9 * Math.abs(expected[name]));
  return expected.variance === 0 ? 0 : Math.abs(actual.variance - expected.variance) / expected.variance;
}

/** Derives waits, runs and unsuccessful attempts from the history of a job, each with its day. */
function factsOf(rows: readonly HistoryRow[]) {
  return rows.slice(1).map((row, index) => {
    const before = rows[index] as HistoryRow;
    return { day: dayText(dayOf(row.at)), event: row.event, state: row.state, ms: row.at - before.at };
  });
}
type Facts = ReturnType<typeof factsOf>;

const durationsOf = (facts: Facts, event: string): number[] =>
  facts.filter((each) => each.event === event).map(({ ms }) => ms);

function endsOf(facts: Facts): Pick<DayStatistics, 'retries' | 'failures' | 'interruptions'> {
  const failed = facts.filter(({ event }) => event === 'failed');
  const failures = failed.filter(({ state }) => state === 'failed').length;
  const interruptions = facts.filter(({ event }) => event === 'released').length;
  return { retries: failed.length - failures, failures, interruptions };
}

/** Pseudo-random numbers, the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SLOW_MS = 5_000;

/** Ways in which a job of queue p is not claimable for a while; at the end it is. */
const HELD_UP: Readonly<Record<string, (bench: Workbench) => Promise<unknown>>> = {
  'its delay was over': async (bench) => {
    await bench.add({ id: 'a', queue: 'p', delayMs: SLOW_MS });
    bench.pass(SLOW_MS);
  },
  'it was committed': async (bench) => {
    await bench.add({ id: 'a', queue: 'p', draft: true });
    bench.pass(SLOW_MS);
    await bench.jobs.commit(['a']);
  },
  'the last job it waited for was done': async (bench) => {
    const [first, second] = [await bench.running({ id: 'x' }), await bench.running({ id: 'y' })];
    await bench.add({ id: 'a', queue: 'p', dependsOn: ['x', 'y'] });
    await bench.settle(first, complete);
    bench.pass(SLOW_MS);
    await bench.settle(second, complete);
  },
  'its last dependency was removed': async (bench) => {
    await bench.add({ id: 'x' }, { id: 'a', queue: 'p', dependsOn: ['x'] });
    bench.pass(SLOW_MS);
    await bench.jobs.change([{ id: 'a', dependsOn: { remove: ['x'] } }]);
  },
  'the job it was coalesced into had failed': async (bench) => {
    await bench.setQueue('p', { coalesce: { by: ['n'] } });
    await bench.add(...['x', 'a'].map((id) => ({ id, queue: 'p', data: '{"n":1}' })));
    const leader = await bench.claimOne({ queues: ['p'], worker: 'early' });
    bench.pass(SLOW_MS);
    await bench.settle(leader, fail({ final: true }));
  },
  'the job it waited for was requeued and done': async (bench) => {
    const first = await bench.running({ id: 'x' });
    await bench.add({ id: 'a', queue: 'p', dependsOn: ['x'], policy: { onDependencyFailed: 'hold' } });
    await bench.settle(first, fail({ final: true }));
    bench.pass(SLOW_MS);
    await bench.jobs.requeue([{ id: 'x' }]);
    await bench.settle(await bench.claimOne(), complete);
  },
  'its draft was committed after the job it waited for was done': async (bench) => {
    const first = await bench.running({ id: 'x' });
    await bench.add({ id: 'a', queue: 'p', dependsOn: ['x'], draft: true });
    await bench.settle(first, complete);
    bench.pass(SLOW_MS);
    await bench.jobs.commit(['a']);
  },
  'its time was moved from the future into the past': async (bench) => {
    await bench.add({ id: 'a', queue: 'p', delayMs: 2 * SLOW_MS });
    bench.pass(SLOW_MS);
    await bench.jobs.change([{ id: 'a', runAt: START - 1 }]);
  },
  'its delay was over, before its time was moved into the past': async (bench) => {
    await bench.add({ id: 'a', queue: 'p', delayMs: SLOW_MS });
    bench.pass(SLOW_MS);
    await bench.jobs.change([{ id: 'a', runAt: START }]);
  },
  'a later job with its unique key brought its time forward': async (bench) => {
    const unique = { key: 'k', scope: 'queue', until: 'ended', periodMs: 0 } as const;
    await bench.add({ id: 'a', queue: 'p', unique, delayMs: 2 * SLOW_MS });
    bench.pass(SLOW_MS);
    const onTaken = { kind: 'debounce', maxWaitMs: null } as const;
    await bench.add({ id: 'b', queue: 'p', unique, runAt: START, onTaken });
  },
  'the delay of its retry was over': async (bench) => {
    await bench.settle(await bench.running({ id: 'a', queue: 'p', policy: { retries: 1 } }), retry(SLOW_MS));
    bench.pass(SLOW_MS);
  },
  'the delay of its resend was over': async (bench) => {
    await bench.settle(await bench.running({ id: 'a', queue: 'p' }), resend(SLOW_MS));
    bench.pass(SLOW_MS);
  },
  'it was released': async (bench) => {
    const job = await bench.running({ id: 'a', queue: 'p' });
    bench.pass(SLOW_MS);
    await bench.settle(job, release);
  },
  'it was requeued': async (bench) => {
    await bench.settle(await bench.running({ id: 'a', queue: 'p' }), complete);
    bench.pass(SLOW_MS);
    await bench.jobs.requeue([{ id: 'a' }]);
  },
  'it was taken from its worker': async (bench) => {
    await bench.running({ id: 'a' });
    bench.pass(SLOW_MS);
    await bench.jobs.move([{ id: 'a', queue: 'p', steal: true }]);
  },
};

/** Adds, claims and settles jobs in bulk, with up to some hours in between. Returns their ids. */
async function busyDays(bench: Workbench, { jobs, batch }: { jobs: number; batch: number }): Promise<string[]> {
  const random = randomNumbers(7);
  const ids = Array.from({ length: jobs }, (_, index) => `j${index}`);
  for (let at = 0, isOver = false; !isOver; at += batch) {
    const some = ids.slice(at, at + batch);
    await bench.add(...some.map((id, index) => ({ id, ...(index % 3 === 0 && { tags: ['third'] }) })));
    bench.pass(Math.floor(10 ** (random() * 8)));
    const held = [...(await bench.claim({ limit: 2 * batch, worker: `w${at % 2}`, leaseMs: 100 * DAY_MS }))];
    isOver = held.length === 0;
    while (held.length > 0) {
      bench.pass(Math.floor(10 ** (random() * 7.2)));
      await settleSome(bench, held.splice(0, Math.ceil(batch / 4)), random);
    }
  }
  return ids;
}

/** Completes three of four jobs; the others return or fail. */
async function settleSome(bench: Workbench, jobs: readonly RunningJob[], random: () => number): Promise<void> {
  const drawOutcome = (): Outcome => {
    const drawn = random();
    if (drawn < 0.75) return complete;
    return drawn < 0.85 ? fail() : drawn < 0.95 ? release : fail({ final: true });
  };
  await bench.jobs.settle(jobs.map(({ id, lease }) => ({ ...drawOutcome(), id, token: lease.token }) as Settlement));
}

async function historiesOf(bench: Workbench, ids: readonly string[]): Promise<Facts> {
  const facts: Facts = [];
  for (let at = 0; at < ids.length; at += 200) {
    const some = await Promise.all(ids.slice(at, at + 200).map((id) => bench.jobs.history(id)));
    facts.push(...some.flatMap(factsOf));
  }
  return facts;
}

export function statisticsContract(open: Open): void {
  it('are empty for a store in which nothing ran', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    expect(await ask(bench)).toEqual([]);
    expect(await ask(bench, { queue: 'none' })).toEqual([]);
  });

  it('count how long jobs waited and ran, in total and by tag and worker', async () => {
    const bench = await open();
    await bench.add({ id: 'a', tags: ['x', 'y', 'x'] }, { id: 'b', tags: ['y'] }, { id: 'c', delayMs: 300 });
    bench.pass(500);
    const [a, b, c] = await bench.claim({ worker: 'one', limit: 3 });
    bench.pass(2_000);
    await bench.settle(a as RunningJob, complete);
    bench.pass(1_000);
    await bench.settle(b as RunningJob, { kind: 'complete', next: { queue: 'p', delayMs: 0 } });
    await bench.settle(c as RunningJob, { kind: 'forward', address: 'http://else/q/p/c' });
    const counted = { queue: 'q', day: dayText(dayOf(START)), retries: 0, failures: 0, interruptions: 0 };
    const expected = (of: string, waits: number[], runs: number[]) => [
      { ...counted, of, wait: spreadOf(waits), run: spreadOf(runs) },
    ];
    const whole = [
      [200, 500, 500],
      [2_000, 3_000, 3_000],
    ] as const;
    const [inAll, byWorker, byTag] = await Promise.all([
      ask(bench),
      ask(bench, { by: 'worker' }),
      ask(bench, { by: 'tag' }),
    ]);
    for (const [actual, of] of [
      [inAll, ''],
      [byWorker, 'one'],
    ] as const) {
      expect(actual).toMatchObject([{ ...counted, of }]);
      expectSpread((actual[0] as DayStatistics).wait, spreadOf(whole[0]));
      expectSpread((actual[0] as DayStatistics).run, spreadOf(whole[1]));
    }
    expect(byTag).toEqual([...expected('x', [500], [2_000]), ...expected('y', [500, 500], [2_000, 3_000])]);
  });

  it('count a wait on the day of the claim and a run on the day of its end', async () => {
    const bench = await open();
    await bench.add({ id: 'a' });
    bench.now = NEXT_MIDNIGHT - 1;
    const job = await bench.claimOne({ leaseMs: DAY_MS });
    bench.now = NEXT_MIDNIGHT;
    await bench.settle(job, complete);
    const [first, second, ...more] = await ask(bench);
    expect([first?.day, second?.day, more]).toEqual([dayText(dayOf(START)), dayText(dayOf(START) + 1), []]);
    expect([first?.wait, first?.run.count]).toEqual([spreadOf([NEXT_MIDNIGHT - 1 - START]), 0]);
    expect([second?.wait.count, second?.run]).toEqual([0, spreadOf([1])]);
    expect(await ask(bench, { from: dayText(dayOf(START) + 1) })).toEqual([second]);
    expect(await ask(bench, { to: dayText(dayOf(START)) })).toEqual([first]);
  });

  for (const [what, prepare] of Object.entries(HELD_UP)) {
    it(`begin a wait when the job could be claimed: ${what}`, async () => {
      const bench = await open();
      await prepare(bench);
      bench.pass(200);
      await bench.claimOne({ worker: 'late', queues: ['p'] });
      const days = await ask(bench, { queue: 'p', by: 'worker' });
      expect(days.find(({ of }) => of === 'late')?.wait).toEqual(spreadOf([200]));
    });
  }

  it('count returned, lost, failed and retried attempts', async () => {
    const bench = await open();
    await bench.setQueue('q', { retries: 2 });
    await bench.settle(await bench.running({ id: 'a' }), release);
    await bench.settle(await bench.claimOne(), fail());
    await bench.settle(await bench.claimOne(), retry());
    await bench.settle(await bench.claimOne(), resend());
    await bench.settle(await bench.claimOne(), fail());
    await bench.running({ id: 'b', tags: ['t'] });
    await bench.loseLeases(LEASE_MS + 1);
    const expected = { retries: 3, failures: 1, interruptions: 2, wait: { count: 6 }, run: { count: 0 } };
    expect(await ask(bench)).toMatchObject([expected]);
    expect(await ask(bench, { by: 'worker' })).toMatchObject([{ ...expected, of: 'w' }]);
    expect(await ask(bench, { by: 'tag' })).toMatchObject([{ of: 't', retries: 0, failures: 0, interruptions: 1 }]);
  });

  it('do not count a cancel, nor anything twice when a call is repeated', async () => {
    const bench = await open();
    const held = await bench.running({ id: 'a' });
    await bench.jobs.cancel([{ id: 'a' }]);
    await bench.settle(held, complete);
    const other = await bench.running({ id: 'b' });
    for (const drawOutcome of [complete, complete, fail()]) await bench.settle(other, drawOutcome);
    const ended = { wait: { count: 2 }, run: { count: 1 }, retries: 0, failures: 0, interruptions: 0 };
    expect(await ask(bench)).toMatchObject([ended]);
  });

  it('stay when their jobs are deleted, and expire with the days that the queue keeps', async () => {
    const bench = await open();
    await bench.setQueue('q', { statsDays: 5, histogramDays: 2 });
    await bench.settle(await bench.running({ id: 'a', tags: ['t'] }), complete);
    await bench.jobs.delete(['a']);
    const readTags = async () => (await ask(bench, { by: 'tag' })).map(({ of, run }) => [of, run.count, run.histogram]);
    for (const isForgotten of [false, true]) {
      bench.now = START + DAY_MS;
      if (isForgotten) await bench.jobs.maintain({ limit: 100 });
      expect(await readTags()).toEqual([['t', 1, [[0, 1]]]]);
      bench.now = START + 2 * DAY_MS;
      if (isForgotten) await bench.jobs.maintain({ limit: 100 });
      expect(await readTags()).toEqual([['t', 1, null]]);
      bench.now = START + 5 * DAY_MS;
      if (isForgotten) await bench.jobs.maintain({ limit: 100 });
      expect(await readTags()).toEqual([]);
      bench.now = START;
    }
    expect(await readTags()).toEqual([]);
  });

  it('are deleted a limited number at a time', async () => {
    const bench = await open();
    await bench.settle(await bench.running({ id: 'a', tags: ['t', 'u'] }), complete);
    const left = async () => {
      const cells = await Promise.all((['queue', 'tag', 'worker'] as const).map((by) => ask(bench, { by })));
      return cells.flat().length;
    };
    const counts: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      bench.now = START;
      counts.push(await left());
      bench.now = START + 30 * DAY_MS;
      await bench.jobs.maintain({ limit: 1 });
    }
    expect(counts).toEqual([4, 3, 2, 1, 0]);
  });

  it('count a limited number of tags of a day, and continue to count the queue', async () => {
    const bench = await open();
    const jobs = Array.from({ length: MAX_CELLS / 100 + 1 }, (_, index) => ({
      id: `j${index}`,
      tags: Array.from({ length: 100 }, (_tag, at) => `t${index * 100 + at}`),
    }));
    for (const job of jobs) await bench.settle(await bench.running(job), complete);
    expect(await ask(bench, { by: 'tag' })).toHaveLength(MAX_CELLS - 2);
    expect(await ask(bench)).toMatchObject([{ run: { count: jobs.length } }]);
  });

  it('equal the histories after any number of settlements, with the variance exact to nine digits', async () => {
    const bench = await open();
    await bench.setQueue('q', { statsDays: 3_650, histogramDays: 3_650, retries: 1_000 });
    const size = testSize({ small: { jobs: 600, batch: 60 }, full: { jobs: 100_000, batch: 500 } });
    const ids = await busyDays(bench, size);
    const [facts, days] = [await historiesOf(bench, ids), await ask(bench)];
    const byDay = new Map(facts.map(({ day }): [string, Facts] => [day, []]));
    for (const each of facts) byDay.get(each.day)?.push(each);
    expect(new Set(days.map(({ day }) => day))).toEqual(new Set(byDay.keys()));
    let farthest = 0;
    for (const { day, wait, run, ...ends } of days) {
      const own = byDay.get(day) ?? [];
      const distances = [
        expectSpread(wait, spreadOf(durationsOf(own, 'claimed'))),
        expectSpread(run, spreadOf(durationsOf(own, 'completed'))),
      ];
      expect(ends).toMatchObject(endsOf(own));
      farthest = Math.max(farthest, ...distances);
    }
    const thirds = (await ask(bench, { by: 'tag' })).reduce((sum, { run, failures }) => sum + run.count + failures, 0);
    expect(thirds).toBe((ids.length / size.batch) * Math.ceil(size.batch / 3));
    const where = (expect.getState().currentTestName ?? '').split(' > ').slice(0, -2).join(', ');
    const settled = facts.filter(({ event }) => event !== 'claimed').length;
    process.stdout.write(
      `\nfigures: ${where}: statistics of ${settled} settlements over ${days.length} days equal the histories, variance within ${farthest.toExponential(1)}\n`,
    );
  }, 600_000);
}
