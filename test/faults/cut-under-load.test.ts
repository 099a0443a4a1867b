/**
 * Workers and a producer use Redis through a proxy that cuts connections at random requests: before a request, after it,
 * in its middle and in the middle of its reply. The proxy also delays some messages. Every job is done exactly once.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type CuttingProxy, type Fate, openCuttingProxy } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { figuresOf, openFaultEnvironment, printFigures, printSeed } from './fault-environment.ts';
import { longestOverlapMs } from './ledger.ts';
import { openRandom, type SeededRandom } from './seeded-random.ts';

const LOAD_MS = testSize({ small: 4_000, full: 120_000 });
const FATES: readonly Fate[] = ['drop', 'half-request', 'lose-reply', 'lose-reply', 'half-reply'];
/** On average, one request in this many is cut. */
const CUT_ONE_IN = 25;
const MAX_DELAY_MS = 10;
/** Some jobs run so long that their leases must be renewed, and the heartbeats are cut too. */
const LEASE_MS = 6_000;

describeWithRedis('replies cut at random under load', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it(
    'lose no job, no lease and no result',
    async () => {
      const random = openRandom();
      printSeed('cut under load', random);
      const proxy = await openCuttingProxy(redis.port);
      onTestFinished(() => proxy.close());
      const environment = await openFaultEnvironment({
        address: redis.url,
        connect: { namespace: `cuts-${randomUUID()}` },
        settings: { lease: LEASE_MS },
      });
      const jobs = { everyMs: 4, atOnce: 20, maxMs: 20, longEvery: 100, longMs: LEASE_MS / 2 };
      const load = { kind: 'steady', prefix: 'c', isPersistent: true, ...jobs };
      const [adder] = await Promise.all([
        environment.startAdder({ ...load, address: proxy.url }),
        environment.startWorkers(2, { address: proxy.url, work: { concurrency: 16 } }),
      ]);
      adder.send({});
      const cuts = cutAtRandom(proxy, random);
      await sleep(LOAD_MS);
      proxy.decide = () => 'pass';
      adder.send({});
      await adder.next(({ type }) => type === 'added', 30_000);
      await environment.drained(30_000);
      await environment.closeProcesses();

      const { verdict, runs, entries } = await environment.findings();
      const overlapMs = longestOverlapMs(runs);
      printFigures('cut under load', {
        seed: random.seed,
        requests: proxy.requests,
        ...Object.fromEntries(cuts),
        ...figuresOf(verdict),
        runs: runs.length,
        overlapMs,
        unknown: entries.filter(({ type, code }) => type === 'unacked' && code === 'outcome-unknown').length,
      });
      expect(verdict).toMatchObject({ problems: [], left: 0, done: verdict.jobs });
      expect(overlapMs).toBeLessThanOrEqual(100);
      for (const fate of FATES) expect(cuts.get(fate) ?? 0).toBeGreaterThan(0);
      // No lease expired unused: a repeated claim returned the leases of the lost answer.
      expect(verdict.takeovers).toBe(0);
      expect(runs).toHaveLength(verdict.jobs);
    },
    LOAD_MS + 120_000,
  );
});

function cutAtRandom(proxy: CuttingProxy, random: SeededRandom): ReadonlyMap<Fate, number> {
  const cuts = new Map<Fate, number>();
  proxy.decide = () => {
    if (random.between(1, CUT_ONE_IN) > 1) return 'pass';
    proxy.delayMs = Math.max(0, random.between(-MAX_DELAY_MS, MAX_DELAY_MS));
    const fate = random.pick(FATES);
    cuts.set(fate, (cuts.get(fate) ?? 0) + 1);
    return fate;
  };
  return cuts;
}
