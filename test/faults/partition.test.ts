/**
 * One worker is cut off from Redis while others reach it. With `stop`, its handler ends before another worker starts the
 * same job. With `continue`, it runs on, and its completion is refused and kept as late.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openCuttingProxy, type ProxyMode } from '../support/cutting-proxy.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { figuresOf, openFaultEnvironment, printFigures, until } from './fault-environment.ts';
import { type LedgerEntry, longestOverlapMs, monotonicMs } from './ledger.ts';

const LEASE_MS = 2_000;
const JOBS = 4;
const ROUNDS = testSize({ small: 1, full: 10 });

describeWithRedis('a worker that is cut off from Redis while others are not', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it.each(['stop', 'continue'] as const)(
    'follows onUnreachable: %s on a silent and on a closed connection, and each job has one result',
    async (policy) => {
      for (let round = 0; round < ROUNDS; round++) {
        await Promise.all(
          (['silent', 'down'] as const).map((mode) => cutOff(policy, mode, `${policy}-${mode}-${randomUUID()}`)),
        );
      }
    },
    ROUNDS * 60_000,
  );

  async function cutOff(policy: 'stop' | 'continue', mode: ProxyMode, namespace: string): Promise<void> {
    const proxy = await openCuttingProxy(redis.port);
    onTestFinished(() => proxy.close());
    const environment = await openFaultEnvironment({
      address: redis.url,
      connect: { namespace },
      settings: { lease: LEASE_MS },
    });
    const [far, near] = await Promise.all([
      environment.startWorker({ address: proxy.url, work: { concurrency: JOBS, onUnreachable: policy } }),
      environment.startWorker({ isPaused: true, work: { concurrency: JOBS } }),
    ]);
    for (let place = 0; place < JOBS; place++)
      await environment.add(`cut-${place}`, { ms: 3 * LEASE_MS, againMs: LEASE_MS / 2 });
    const starts = () => environment.ledgerEntries().filter(({ type }) => type === 'start').length;
    await until('its jobs run', 30_000, () => (starts() === JOBS ? true : null));
    const cutAt = monotonicMs();
    proxy.mode = mode;
    near.send({ resume: true });
    await until('another worker has started them', 30_000, () => (starts() === 2 * JOBS ? true : null));
    await environment.drained(20_000);
    // The connection stays cut until the handlers of the isolated worker have ended.
    const isOver = ({ type, pid }: LedgerEntry): boolean => pid === far.pid && (type === 'end' || type === 'aborted');
    await until('its own runs have ended', 20_000, () =>
      environment.ledgerEntries().filter(isOver).length === JOBS ? true : null,
    );
    proxy.mode = 'open';
    const isAnswered = ({ type, pid }: LedgerEntry): boolean => pid === far.pid && type === 'answered';
    await until('its late settlements are answered', 20_000, () =>
      environment.ledgerEntries().filter(isAnswered).length === JOBS ? true : null,
    );
    await environment.closeProcesses();

    const { verdict, runs } = await environment.findings();
    const [first, second] = [far, near].map(({ pid }) => runs.filter((run) => run.pid === pid));
    const overlapMs = longestOverlapMs(runs);
    const takenOverMs = Math.max(...(second ?? []).map(({ startedAt }) => startedAt - cutAt));
    printFigures(`cut off, ${mode}, ${policy}`, {
      ...figuresOf(verdict),
      leaseMs: LEASE_MS,
      stoppedMs: Math.max(...(first ?? []).map(({ lastAt }) => lastAt - cutAt)),
      takenOverMs,
      overlapMs,
    });
    expect(verdict).toMatchObject({ problems: [], left: 0, done: JOBS, takeovers: JOBS });
    expect(takenOverMs).toBeLessThanOrEqual(LEASE_MS + 2_000);
    for (const run of first ?? []) expect(run.outcome).toBe(policy === 'stop' ? 'aborted' : 'end');
    expect(verdict.fencedLate).toBe(JOBS);
    if (policy === 'stop') expect(overlapMs).toBeLessThanOrEqual(0);
  }
});
