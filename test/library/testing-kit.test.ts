/** `longhaul/testing`: days pass in a moment. */
import { expect, test } from 'vitest';
import { connectForTests, waitFor } from '../../src/testing/index.ts';

test('A job that is due in three days runs when the clock says so, and not before.', async () => {
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

test('Waiting in vain says for what.', async () => {
  await expect(waitFor('the moon', () => null, { deadlineMs: 10 })).rejects.toThrow('in vain for: the moon');
});
