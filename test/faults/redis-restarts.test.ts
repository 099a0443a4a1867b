/**
 * Redis with `appendfsync always`, killed with -9 or restarted cleanly under load: no acknowledged job is lost, and
 * producers and workers continue by themselves.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { figuresOf, openFaultEnvironment, printFigures, printSeed, until } from './fault-environment.ts';
import { type LedgerEntry, longestOverlapMs, monotonicMs } from './ledger.ts';
import { openRandom } from './seeded-random.ts';

const RESTARTS = testSize({ small: 4, full: 60 });
const RESUMED_MS = 5_000;

describeWithRedis('Redis with appendfsync always, restarted under load', () => {
  it(
    'loses no acknowledged job, and all clients continue by themselves',
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
      // Without more jobs, a worker that resumes after the other one has nothing to start.
      const lastAt = backAt.at(-1) ?? 0;
      await until('a job of each worker after the last restart', 2 * RESUMED_MS, () => {
        const entries = environment.ledgerEntries();
        return workers.every(({ pid }) => Number.isFinite(nextStart(entries, pid, lastAt))) || null;
      });
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      await environment.drained(30_000);
      await environment.closeProcesses();

      const { verdict, runs, entries } = await environment.findings();
      const unacked = entries.filter(({ type }) => type === 'unacked');
      const resumedMs = backAt.flatMap((at) => workers.map(({ pid }) => nextStart(entries, pid, at) - at));
      const overlapMs = longestOverlapMs(runs);
      printFigures('Redis restarted', {
        seed: random.seed,
        restarts: RESTARTS,
        ...figuresOf(verdict),
        overlapMs,
        unknown: unacked.filter(({ code }) => code === 'outcome-unknown').length,
        unavailable: unacked.filter(({ code }) => code === 'store-unavailable').length,
        workersResumedMs: Math.max(...resumedMs),
      });
      expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
      expect(overlapMs).toBeLessThanOrEqual(100);
      expect(Math.max(...resumedMs)).toBeLessThan(RESUMED_MS);
      // Without a lost reply the test proves nothing.
      expect(unacked.length).toBeGreaterThan(0);
    },
    RESTARTS * 5_000 + 90_000,
  );
});

function nextStart(entries: readonly LedgerEntry[], pid: number, after: number): number {
  return (
    entries.find(({ type, at, pid: of }) => type === 'start' && of === pid && at > after)?.at ??
    Number.POSITIVE_INFINITY
  );
}
