/**
 * A Redis user that loses rights for moments while jobs settle: an operator edits the ACL, a secret is rotated. The
 * work that was done counts; no job fails for it and none runs twice.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/library/index.ts';
import { ask, describeWithRedis, startRedis } from '../support/redis-server.ts';

const JOBS = 500;
const AWAY_MS = 10;
const BACK_MS = 30;
/** Rights that a settlement needs: to run a script at all, and inside the script. */
const RIGHTS = ['evalsha', 'hset', 'zrem', 'hget', 'hdel', 'publish'];
const ROUNDS = 2 * RIGHTS.length;

describeWithRedis('a Redis user without rights for a moment', () => {
  it('costs no settlement: every job is done, after one run of its handler', async () => {
    const server = await startRedis();
    onTestFinished(() => server.stop());
    expect(await ask(server.port, 'ACL SETUSER worker on >secret ~* &* +@all')).toBe('OK');
    const longhaul = await connect(server.url.replace('redis://', 'redis://worker:secret@'));
    onTestFinished(() => longhaul.close());
    const queue = longhaul.queue<number, number>('q');
    const runs = new Map<number, number>();
    await queue.addAll(Array.from({ length: JOBS }, (_, number) => number));
    const work = queue.work(
      async ({ data }) => {
        runs.set(data, (runs.get(data) ?? 0) + 1);
        await sleep(5);
        return data;
      },
      { concurrency: 10 },
    );
    await work.ready;
    for (let round = 0; round < ROUNDS; round += 1) {
      const right = RIGHTS[round % RIGHTS.length] ?? '';
      await ask(server.port, `ACL SETUSER worker -${right}`);
      await sleep(AWAY_MS);
      await ask(server.port, `ACL SETUSER worker +${right}`);
      await sleep(BACK_MS);
    }
    await expect.poll(async () => (await queue.count()).done, { timeout: 15_000 }).toBe(JOBS);
    expect(runs.size).toBe(JOBS);
    expect([...runs.values()].filter((count) => count > 1)).toEqual([]);
    const { jobs } = await longhaul.store.jobs.list({ queue: 'q', order: 'newest', limit: 1_000 });
    expect(jobs.filter(({ failures, attempt }) => failures > 0 || attempt > 1)).toEqual([]);
  });
});
