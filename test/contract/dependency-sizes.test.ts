/**
 * The cost of dependencies and throttles at size: a join of thousands, and queues full of jobs that cannot start.
 * Measured in operations, not in time: the commands of a Redis server, or CPU time where nothing can be counted.
 */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NewJob } from '../../src/core/ports/job-store.ts';
import { openRedisStore } from '../../src/stores/redis/index.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../support/redis-server.ts';
import { testSize } from '../support/test-size.ts';
import { openFreshSqlite, removeFoldersAtTheEnd } from './open-sqlite.ts';
import { setMax } from './throttles.ts';
import { aJob, complete, Workbench } from './workbench.ts';

const FAN_IN = testSize({ small: 200, full: 1_000 });
const ROUNDS = testSize({ small: 3, full: 10 });
const BLOCKED = testSize({ small: 3_000, full: 100_000 });
const BATCH = 50;
const TIMEOUT_MS = testSize({ small: 120_000, full: 1_200_000 });

/** Adds jobs in batches, as producers do. */
async function addAll(bench: Workbench, jobs: readonly (Partial<NewJob> & { readonly id: string })[]): Promise<void> {
  for (let from = 0; from < jobs.length; from += 1_000) {
    const answers = await bench.jobs.add(jobs.slice(from, from + 1_000).map(aJob));
    expect(answers.every(({ ok }) => ok)).toBe(true);
  }
}

/** Claims and completes until nothing is left. Returns the ids in their order. */
async function work(bench: Workbench, queues: readonly string[], most = Number.POSITIVE_INFINITY): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < most) {
    const jobs = await bench.claim({ queues, limit: Math.min(BATCH, most - ids.length) });
    if (jobs.length === 0) break;
    await bench.jobs.settle(jobs.map(({ id, lease }) => ({ ...complete, id, token: lease.token }) as never));
    ids.push(...jobs.map(({ id }) => id));
  }
  return ids;
}

/** Rounds of jobs that wait for the previous join, and a join that waits for all jobs of its round. */
const round = (at: number): (Partial<NewJob> & { readonly id: string })[] => {
  const parts = Array.from({ length: FAN_IN }, (_, n) => `part-${at}-${n}`);
  const before = at === 0 ? {} : { dependsOn: [`join-${at - 1}`] };
  return [...parts.map((id) => ({ id, ...before })), { id: `join-${at}`, dependsOn: parts }];
};

type Meter = () => Promise<number>;

/** Measures the cost of a piece of work. */
async function costOf(meter: Meter, body: () => Promise<unknown>): Promise<number> {
  const before = await meter();
  await body();
  return (await meter()) - before;
}

interface MeteredStore {
  readonly open: () => Promise<Workbench>;
  readonly meter: Meter;
  /** By how much one cost may exceed another that should be the same. */
  readonly tolerance: number;
}

function sizes(environment: MeteredStore): void {
  it(
    `a graph with joins of ${FAN_IN} completes, each round at the cost of the first`,
    async () => {
      const bench = await environment.open();
      const costs: number[] = [];
      for (let at = 0; at < ROUNDS; at += 1) await addAll(bench, round(at));
      for (let at = 0; at < ROUNDS; at += 1) {
        let ids: string[] = [];
        costs.push(await costOf(environment.meter, async () => (ids = await work(bench, ['q'], FAN_IN + 1))));
        expect(ids).toHaveLength(FAN_IN + 1);
        expect(ids.at(-1)).toBe(`join-${at}`);
      }
      const [counts] = await bench.jobs.count(['q']);
      expect(counts).toMatchObject({ done: ROUNDS * (FAN_IN + 1), waiting: 0, blocked: 0 });
      expect(Math.max(...costs.slice(1))).toBeLessThan((costs[0] ?? 0) * environment.tolerance);
    },
    TIMEOUT_MS,
  );

  it(
    'a parent of a large join completes at the cost of a parent of a small join',
    async () => {
      const bench = await environment.open();
      const joinOf = async (name: string, count: number): Promise<number> => {
        const parts = Array.from({ length: count }, (_, n) => ({ id: `${name}-${n}`, queue: name }));
        await addAll(bench, [...parts, { id: name, queue: 'joins', dependsOn: parts.map(({ id }) => id) }]);
        return costOf(environment.meter, () => work(bench, [name], BATCH * 2));
      };
      await joinOf('warm', BATCH * 4);
      const small = await joinOf('small', BATCH * 2 + 1);
      const large = await joinOf('large', FAN_IN * 4);
      expect(large).toBeLessThan(small * environment.tolerance);
    },
    TIMEOUT_MS,
  );

  it(
    `a claim costs the same with ${BLOCKED} blocked jobs as with none`,
    async () => {
      const bench = await environment.open();
      const plain = (name: string) => Array.from({ length: BATCH * 8 }, (_, n) => ({ id: `${name}-${n}` }));
      await addAll(bench, [...plain('warm'), { id: 'gate', queue: 'gates' }]);
      await work(bench, ['q']);
      await addAll(bench, plain('free'));
      const free = await costOf(environment.meter, () => work(bench, ['q']));
      await addAll(
        bench,
        Array.from({ length: BLOCKED }, (_, n) => ({ id: `blocked-${n}`, dependsOn: ['gate'] })),
      );
      await addAll(bench, plain('beside'));
      const beside = await costOf(environment.meter, () => work(bench, ['q']));
      expect(beside).toBeLessThan(free * environment.tolerance);
      expect(await bench.jobs.count(['q'])).toMatchObject([{ waiting: BLOCKED, blocked: BLOCKED }]);
      await bench.settle(await bench.claimOne({ queues: ['gates'] }), complete);
      expect(await bench.jobs.count(['q'])).toMatchObject([{ waiting: BLOCKED, blocked: 0 }]);
    },
    TIMEOUT_MS,
  );

  it(
    `a claim costs the same with ${BLOCKED} throttled jobs as with none`,
    async () => {
      const bench = await environment.open();
      const plain = (name: string) => Array.from({ length: BATCH * 8 }, (_, n) => ({ id: `${name}-${n}` }));
      const throttled = (id: string) => ({ id, policy: { throttles: ['db'] } });
      await setMax(bench, 'db', 1);
      await addAll(bench, [...plain('warm'), throttled('holder')]);
      await work(bench, ['q'], BATCH * 8);
      const holder = await bench.claimOne();
      await addAll(bench, plain('free'));
      const free = await costOf(environment.meter, () => work(bench, ['q']));
      await addAll(
        bench,
        Array.from({ length: BLOCKED }, (_, n) => throttled(`throttled-${n}`)),
      );
      // Each claim parks a number of jobs, until none is left that claims would have to scan.
      for (let more = true; more; ) more = (await bench.requestClaim({ limit: 1 })).nextAt === bench.now + 1;
      await addAll(bench, plain('beside'));
      const beside = await costOf(environment.meter, () => work(bench, ['q']));
      expect(beside).toBeLessThan(free * environment.tolerance);
      await bench.settle(holder, complete);
      expect(await bench.claimIds({ limit: 2 })).toEqual(['throttled-0']);
    },
    TIMEOUT_MS,
  );
}

describe('the SQLite store', () => {
  removeFoldersAtTheEnd();
  const opened: Workbench[] = [];
  afterAll(async () => {
    for (const bench of opened) await bench.store.close();
  });
  sizes({
    open: async () => {
      const bench = new Workbench(await openFreshSqlite({ clock: 'caller' }));
      opened.push(bench);
      return bench;
    },
    // CPU time of all threads of this process: the bound is wide, and only excludes costs that grow with the size.
    meter: async () => {
      const { user, system } = process.cpuUsage();
      return user + system;
    },
    tolerance: 4,
  });
});

describeWithRedis('the Redis store', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  const opened: Workbench[] = [];
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(async () => {
    for (const bench of opened) await bench.store.close();
    client.destroy();
    await server.stop();
  });
  sizes({
    open: async () => {
      const bench = new Workbench(
        await openRedisStore({ url: server.url, namespace: `size-${opened.length}`, clock: 'caller' }),
      );
      opened.push(bench);
      return bench;
    },
    /** All commands so far, those within scripts too. */
    meter: async () => {
      const stats = (await client.sendCommand(['INFO', 'commandstats'])) as unknown as string;
      return [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
    },
    tolerance: 1.2,
  });
});
