/** The same id added 1,000 times at once from several processes is one job. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aFolder, type FaultEnvironment, openFaultEnvironment, printFigures } from '../faults/fault-environment.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';

const ID = 'the-only-one';
const PROCESSES = 4;
const EACH = 250;

describe('the same id added 1,000 times at once', () => {
  it('is one job over SQLite', async () => {
    await addedAtOnce(await openFaultEnvironment({ address: aFolder() }), 'SQLite');
  });
});

describeWithRedis('the same id added 1,000 times at once', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it('is one job over Redis', async () => {
    await addedAtOnce(
      await openFaultEnvironment({ address: redis.url, connect: { namespace: `same-id-${randomUUID()}` } }),
      'Redis',
    );
  });
});

async function addedAtOnce(environment: FaultEnvironment, store: string): Promise<void> {
  const plan = { kind: 'same', id: ID, count: EACH };
  const adders = await Promise.all(Array.from({ length: PROCESSES }, () => environment.startAdder(plan)));
  const startedAt = performance.now();
  for (const adder of adders) adder.send({});
  const answers = await Promise.all(adders.map((adder) => adder.next(({ type }) => type === 'added', 30_000)));
  const ms = performance.now() - startedAt;
  const outcomes = answers.flatMap(({ outcomes: given }) => given as readonly string[]);
  const jobs = await environment.longhaul.list();
  const rows = await environment.longhaul.history(ID);

  expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === 'exists')).toHaveLength(PROCESSES * EACH - 1);
  expect(jobs.jobs.map(({ id }) => id)).toEqual([ID]);
  expect(rows.map(({ event }) => event)).toEqual(['added']);
  expect(await environment.count()).toMatchObject({ waiting: 1, running: 0, done: 0 });
  printFigures(`same id, ${store}`, {
    processes: PROCESSES,
    adds: outcomes.length,
    added: 1,
    jobs: jobs.jobs.length,
    ms,
  });
}
