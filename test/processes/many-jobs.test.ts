/**
 * Many jobs on a durable store, added by two processes and run by three at the same time: by the store and by the ledgers of
 * the handlers, each job is done exactly once, and counts, states and histories agree.
 */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  aFolder,
  type FaultEnvironment,
  figuresOf,
  openFaultEnvironment,
  printFigures,
} from '../faults/fault-environment.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { isFullSize, testSize } from '../support/test-size.ts';

const JOBS = testSize({ small: 5_000, full: 100_000 });
const ADDERS = 2;
const WORKERS = 3;
const DEADLINE_MS = isFullSize ? 600_000 : 60_000;

describe(`${JOBS} jobs`, () => {
  it(
    'on SQLite are each done exactly once',
    async () => {
      await allDoneOnce(await openFaultEnvironment({ address: aFolder() }), 'SQLite');
    },
    2 * DEADLINE_MS,
  );
});

describeWithRedis(`${JOBS} jobs`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it(
    'on Redis are each done exactly once',
    async () => {
      await allDoneOnce(
        await openFaultEnvironment({ address: redis.url, connect: { namespace: `many-${randomUUID()}` } }),
        'Redis',
      );
    },
    2 * DEADLINE_MS,
  );
});

async function allDoneOnce(environment: FaultEnvironment, store: string): Promise<void> {
  const [workers, adders] = await Promise.all([
    environment.startWorkers(WORKERS, { work: { concurrency: 100 } }),
    Promise.all(Array.from({ length: ADDERS }, (_, place) => startAdder(environment, place))),
  ]);
  const startedAt = performance.now();
  for (const adder of adders) adder.send({});
  await Promise.all(adders.map((adder) => adder.next(({ type }) => type === 'added', DEADLINE_MS)));
  await environment.drained(DEADLINE_MS);
  const ms = performance.now() - startedAt;
  await environment.closeProcesses();

  const { verdict, runs } = await environment.findings();
  expect(verdict).toMatchObject({ problems: [], jobs: JOBS, done: JOBS, left: 0 });
  expect(runs).toHaveLength(JOBS);
  expect(new Set(runs.map(({ id }) => id)).size).toBe(JOBS);
  const byWorker = workers.map(({ pid }) => runs.filter((run) => run.pid === pid).length);
  printFigures(`many jobs, ${store}`, {
    ...figuresOf(verdict),
    runs: runs.length,
    byWorker: byWorker.join('/'),
    jobsPerSecond: Math.round((JOBS / ms) * 1_000),
  });
}

function startAdder(environment: FaultEnvironment, place: number) {
  return environment.startAdder({ kind: 'bulk', prefix: `p${place}`, count: JOBS / ADDERS, batch: 500 });
}
