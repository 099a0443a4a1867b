/** The testing kit, `longhaul/testing`. */
import { expect, test } from 'vitest';
import { connectForTests, waitFor } from '../../src/testing/index.ts';

test('A job that is due in three days runs when the clock is there, and not before.', async () => {
  const { longhaul, clock } = connectForTests();
  const queue = longhaul.queue<number, number>('q');
  queue.work(async (job) => job.data);
  const job = await queue.add(1, { delay: '3d' });
  clock.advance('2d');
  expect((await longhaul.find(job.id))?.state).toBe('waiting');
  clock.advance('1d');
  expect(await job.finished()).toBe(1);
  await longhaul.close();
});

test('A schedule fires when the test moves the clock to its run time.', async () => {
  const { longhaul, clock } = connectForTests({ startAt: Date.UTC(2030, 2, 30, 12) });
  const queue = longhaul.queue<null, number>('q');
  const ran: string[] = [];
  queue.work(async (job) => ran.push(job.id));
  await queue.schedule('nightly', { cron: '30 2 * * *', zone: 'Europe/Berlin' });
  clock.advance('12h');
  expect(ran).toEqual([]);
  clock.advance('1h');
  await waitFor('the night in which clocks skip half past two', () => ran.length === 1);
  clock.advance('1d');
  await waitFor('the night after', () => ran.length === 2);
  expect(ran).toEqual(['nightly@2030-03-31T01:00:00Z', 'nightly@2030-04-01T00:30:00Z']);
  await longhaul.close();
});

test.each([
  [[() => true], 'what: must be a text'],
  [['the moon'], 'ask: must be a function'],
  [['the moon', () => true, { deadlineMs: 'soon' }], 'deadlineMs: must be'],
])('waitFor refuses bad arguments: %o', async (args, problem) => {
  await expect(waitFor(...(args as unknown as Parameters<typeof waitFor>))).rejects.toThrow(problem);
});

test('waitFor names the condition when it times out.', async () => {
  await expect(waitFor('the moon', () => null, { deadlineMs: 10 })).rejects.toThrow('waiting for: the moon');
});

test('A sleep of days suspends the job until its time, fixed at the first call; a short one stays in the worker.', async () => {
  const { longhaul, clock } = connectForTests();
  const queue = longhaul.queue<null, number>('q');
  const at: number[] = [];
  queue.work(async (job) => {
    at.push(clock.now());
    await job.sleep('2d');
    await job.sleep(20);
    return job.attempt;
  });
  const begin = clock.now();
  const job = await queue.add(null);
  await waitFor('it sleeps', async () => (await longhaul.find(job.id))?.label === 'suspended');
  clock.advance('1d');
  expect((await longhaul.find(job.id))?.state).toBe('waiting');
  clock.advance('1d');
  await waitFor('it is back', () => at.length === 2);
  clock.advance(20);
  expect(await job.finished()).toBe(1);
  expect(at).toEqual([begin, begin + 2 * 86_400_000]);
  await longhaul.close();
});

test('The time limit of an attempt counts what ran before it was suspended.', async () => {
  const { longhaul } = connectForTests();
  const queue = longhaul.queue<null>('q');
  const work = () => new Promise((resolve) => setTimeout(resolve, 600));
  queue.work(async (job) => {
    await work();
    await job.waitForEvent('go');
    await work();
  });
  const job = await queue.add(null, { maxRuntime: 1_000 });
  await waitFor('it is suspended', async () => (await longhaul.find(job.id))?.label === 'suspended');
  await longhaul.notify(job.id, 'go');
  await waitFor('it has ended', async () => (await longhaul.find(job.id))?.endedAt);
  expect(await longhaul.find(job.id)).toMatchObject({ state: 'failed', attempt: 1, failure: { group: 'timeout' } });
  await longhaul.close();
});
