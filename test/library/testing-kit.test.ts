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
