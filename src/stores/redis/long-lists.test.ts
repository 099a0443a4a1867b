/**
 * Lists over many jobs: whether few or many could fit decides where the store looks, and the answer must not show it.
 * The memory store, which looks at everything, says what is right.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { JobQuery, JobStore, NewJob } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { openMemoryStore } from '../memory/open-memory-store.ts';
import { openRedisStore } from './open-redis-store.ts';

const NOW = 1_750_000_000_000;
const MANY = 2_600;

/** Two queues; every kind of job among them, the rare ones far apart. */
const JOBS: readonly NewJob[] = Array.from({ length: MANY }, (_, at) => ({
  id: `job-${at}`,
  queue: at % 7 === 0 ? 'few' : 'many',
  data: '{}',
  ...(at % 500 === 3 && { tags: ['rare'], name: 'named' }),
  ...(at % 3 === 0 && { priority: at % 5 }),
  ...(at % 11 === 0 && { delayMs: 1_000 }),
}));

async function fill({ jobs }: Store): Promise<void> {
  await jobs.add(JOBS.slice(0, 1_300), { now: NOW });
  await jobs.add(JOBS.slice(1_300), { now: NOW + 10 });
  await jobs.cancel(
    JOBS.filter((_, at) => at % 13 === 0).map(({ id }) => ({ id })),
    { now: NOW + 20 },
  );
  const { jobs: taken } = await jobs.claim(
    { worker: 'w', queues: ['many'], limit: 900, requestId: 'r' },
    { now: NOW + 30 },
  );
  const failure = { group: 'boom', message: 'no', detail: null };
  await jobs.settle(
    taken.slice(0, 890).map(({ id, lease }, at) => {
      const held = { id, token: lease?.token ?? 0 };
      return at % 100 === 0 ? { ...held, kind: 'fail', failure, delayMs: 0 } : { ...held, kind: 'complete' };
    }),
    { now: NOW + 40 },
  );
}

async function pages(jobs: JobStore, query: Omit<JobQuery, 'limit' | 'order'>): Promise<string[]> {
  const ids: string[] = [];
  let after: string | null | undefined;
  do {
    const page = await jobs.list({ ...query, order: 'newest', limit: 150, ...(after && { after }) }, { now: NOW + 50 });
    ids.push(...page.jobs.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return ids;
}

describeWithRedis('lists over many jobs', () => {
  let server: RedisServer;
  let memory: Store;
  let redis: Store;
  beforeAll(async () => {
    server = await startRedis();
    memory = openMemoryStore({ clock: 'caller' });
    redis = await openRedisStore({ url: server.url, clock: 'caller' });
    for (const store of [memory, redis]) await fill(store);
  });
  afterAll(async () => {
    await redis.close();
    await server.stop();
  });

  it.each<Omit<JobQuery, 'limit' | 'order'>>([
    {},
    { queue: 'few' },
    { queue: 'many' },
    { state: 'waiting' },
    { state: 'failed' },
    { state: 'done' },
    { queue: 'many', state: 'done' },
    { queue: 'few', state: 'cancelled' },
    { worker: 'w' },
    { group: 'boom' },
    { tag: 'rare' },
    { tag: 'rare', queue: 'many' },
    { name: 'named' },
    { label: 'scheduled' },
    { label: 'starting', queue: 'many' },
    { since: NOW + 10 },
    { before: NOW + 10, queue: 'few' },
  ])('%o: page by page, the same as over maps', async (query) => {
    const right = await pages(memory.jobs, query);
    expect(await pages(redis.jobs, query)).toEqual(right);
  });

  it('peeks into the order of claims, page by page, the same as over maps', async () => {
    for (const queue of ['few', 'many']) {
      for (const after of [undefined, '70', '140']) {
        const query = { queue, order: 'claim', limit: 70, ...(after && { after }) } as const;
        const [right, found] = await Promise.all(
          [memory, redis].map((store) => store.jobs.list(query, { now: NOW + 2_000 })),
        );
        expect(found?.jobs.map(({ id }) => id)).toEqual(right?.jobs.map(({ id }) => id));
        expect(found?.next).toBe(right?.next);
      }
    }
  });
});
