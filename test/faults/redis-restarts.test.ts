/**
 * Redis with `appendfsync always`, killed with -9 and restarted in good order, under load: nothing that was acked is
 * lost, and producers and workers go on by themselves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { figuresOf, openFaultEnvironment, printFigures, printSeed } from './fault-environment.ts';
import { longestOverlapMs, type Mark, monotonicMs } from './ledger.ts';
import { openRandom } from './seeded-random.ts';

const RESTARTS = testSize({ small: 4, full: 60 });
const RESUMED_MS = 5_000;

describeWithRedis('Redis with appendfsync always, restarted under load', () => {
  it(
    'loses nothing that was acked, and everybody goes on by themselves',
    async () => {
      const random = openRandom();
      printSeed('Redis restarted', random);
      const redis = await startRedis({ appendfsync: 'always' });
      onTestFinished(() => redis.stop());
      const environment = await openFaultEnvironment({
        address: redis.url,
        connect: { namespace: 'restarts' },
        settings: { lease: '5s' },
      });
      const load = { kind: 'steady', prefix: 'r', everyMs: 2, atOnce: 50, maxMs: 100, isPersistent: true };
      const [adder, workers] = await Promise.all([
        environment.startAdder(load),
        environment.startWorkers(2, { work: { concurrency: 20 } }),
      ]);
      adder.send({});
      const backAt: number[] = [];
      for (let restart = 0; restart < RESTARTS; restart++) {
        await sleep(random.between(600, 1_200));
        if (restart % 2 === 0) await redis.kill9();
        await redis.restart();
        backAt.push(monotonicMs());
      }
      await sleep(RESUMED_MS / 4);
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      await environment.drained(30_000);
      await environment.closeProcesses();

      const { verdict, runs, marks } = await environment.findings();
      const unacked = marks.filter(({ mark }) => mark === 'unacked');
      const resumedMs = backAt.flatMap((at) => workers.map(({ pid }) => nextStart(marks, pid, at) - at));
      const overlapMs = longestOverlapMs(runs);
      printFigures('Redis restarted', {
        seed: random.seed,
        restarts: RESTARTS,
        ...figuresOf(verdict),
        overlapMs,
        unknown: unacked.filter(({ code }) => code === 'outcome-unknown').length,
        unavailable: unacked.filter(({ code }) => code === 'store-unavailable').length,
        workersWentOnMs: Math.max(...resumedMs),
      });
      expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
      expect(overlapMs).toBeLessThanOrEqual(100);
      expect(Math.max(...resumedMs)).toBeLessThan(RESUMED_MS);
      // A run in which no reply was lost has not tried what it set out to try.
      expect(unacked.length).toBeGreaterThan(0);
    },
    RESTARTS * 5_000 + 90_000,
  );
});

function nextStart(marks: readonly Mark[], pid: number, after: number): number {
  return (
    marks.find(({ mark, at, pid: of }) => mark === 'start' && of === pid && at > after)?.at ?? Number.POSITIVE_INFINITY
  );
}
