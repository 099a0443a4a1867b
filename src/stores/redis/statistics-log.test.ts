/** The log of statistics in Redis: what calls append, that readers write nothing, and when entries are added to the cells. */
import { createClient } from '@redis/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { complete, openWorkbench, type Workbench } from '../../../test/contract/workbench.ts';
import { describeWithRedis, type RedisServer, startRedis } from '../../../test/support/redis-server.ts';
import type { RunningJob } from '../../core/job/job.ts';
import { MAX_LOG_ENTRIES } from '../../core/statistics/statistics.ts';
import { openRedisStore } from './open-redis-store.ts';

describeWithRedis('the log of statistics', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;
  let namespaces = 0;
  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url, RESP: 2 });
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  async function openBench() {
    namespaces += 1;
    const namespace = `log-${namespaces}`;
    const bench = await openWorkbench(({ clock }) => openRedisStore({ url: server.url, namespace, clock }), 'caller');
    /** The fields of the log, of cells, pages and storage sums. */
    const fields = async () => {
      const all = (await client.sendCommand(['HKEYS', `{${namespace}}j`])) as unknown as string[];
      return all.filter((field) => /^[+#%$]/.test(field)).sort();
    };
    const count = async () => Number(await client.hGet(`{${namespace}}j`, '+'));
    return { bench, fields, count, changes: () => changesOf(client) };
  }

  /** Adds and claims one job after the other: an entry for each. */
  async function claimed(bench: Workbench, count: number): Promise<RunningJob[]> {
    const jobs: RunningJob[] = [];
    for (let at = 0; at < count; at += 1) jobs.push(await bench.running({ id: `j${at}` }));
    return jobs;
  }

  it('gets one entry from a call whose jobs are alike, and no call writes a cell', async () => {
    const { bench, fields, count } = await openBench();
    await bench.add({ id: 'a' }, { id: 'b' }, { id: 'c', tags: ['t'] });
    const jobs = await bench.claim();
    expect(await fields()).toEqual(['+', '+1', '+2']);
    await bench.jobs.settle(jobs.map(({ id, lease }) => ({ kind: 'complete', id, token: lease.token })));
    expect([await count(), await fields()]).toEqual([4, ['+', '+1', '+2', '+3', '+4']]);
  });

  it('is added to the cells after a call that finds more entries than may be pending', async () => {
    const { bench, fields, count } = await openBench();
    const jobs = await claimed(bench, MAX_LOG_ENTRIES);
    expect([await count(), (await fields()).length]).toEqual([MAX_LOG_ENTRIES, MAX_LOG_ENTRIES + 1]);
    await bench.settle(jobs[0] as RunningJob, complete);
    await expect.poll(count).toBe(0);
    expect((await fields()).map((field) => field.charAt(0))).toEqual(['#', '#', '$', '%', '%', '+']);
    expect(await bench.jobs.insight({ kind: 'statistics' })).toMatchObject([
      { wait: { count: MAX_LOG_ENTRIES }, run: { count: 1 } },
    ]);
  });

  it('is added to the cells by maintenance', async () => {
    const { bench, fields, count } = await openBench();
    const [job] = await claimed(bench, 2);
    await bench.settle(job as RunningJob, complete);
    await bench.jobs.maintain({ limit: 10 });
    expect([await count(), (await fields()).length]).toEqual([0, 6]);
  });

  it('is read without a change', async () => {
    const { bench, changes } = await openBench();
    await claimed(bench, 5);
    const before = await changes();
    for (const by of ['queue', 'worker', 'tag'] as const) await bench.jobs.insight({ kind: 'statistics', by });
    for (const span of ['minute', 'hour'] as const) await bench.jobs.insight({ kind: 'series', span });
    for (const kind of ['failures', 'storage', 'prunable'] as const) await bench.jobs.insight({ kind });
    for (const part of ['statistics', 'queues'] as const) await bench.store.migration.read(part, null, 10);
    expect(await changes()).toBe(before);
  });
});

/** How many changes the server has made since its last save. */
async function changesOf(client: ReturnType<typeof createClient>): Promise<number> {
  return Number(/rdb_changes_since_last_save:(\d+)/.exec(await client.info('persistence'))?.[1]);
}
