/** What the past tells on the page: how long jobs wait and run, how many a day, what is unusual, what fails more and more. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { PageBench } from './page-bench.ts';

const LONG = 120_000;
const RUNS = 25;

describe('the page of a node with a past', () => {
  const web = new PageBench({
    prepare: (bench) => void bench.queue('brief', 'echo once; sleep 300', { maxSilence: '16s', concurrency: 9 }),
  });

  /** Jobs that took no time, through the port as a worker would: before any page has asked what is usual here. */
  beforeAll(async () => {
    const { store } = await web.bench.longhaul();
    const ids = Array.from({ length: RUNS + 3 }, () => randomUUID());
    await store.jobs.add(ids.map((id) => ({ id, queue: 'past', data: '{"film":"harbour"}', tags: ['old'] })));
    const { jobs } = await store.jobs.claim({ worker: 'test', queues: ['past'], limit: ids.length, requestId: 'all' });
    const failure = { group: 'bad frame', message: 'frame 7 is bad', detail: null };
    await store.jobs.settle(
      jobs.map(({ id, lease }, place) =>
        place < RUNS
          ? { kind: 'complete', id, token: lease?.token ?? 0 }
          : { kind: 'fail', id, token: lease?.token ?? 0, failure, delayMs: 0 },
      ),
    );
  });

  it('draws waits and runs on logarithmic axes, and throughput over the time one chooses', {
    timeout: LONG,
  }, async () => {
    const { page, troubles } = await web.open('/q/past');
    const numbers = new RegExp(`^Ran: ${RUNS} jobs, half within .* m?s, 95 % within .* m?s$`);
    const runs = page.getByRole('img', { name: numbers });
    await runs.waitFor();
    // Thirty bars from a millisecond to thirty days, each with its bounds and its number.
    const titles = await runs.locator('title').allTextContents();
    expect([titles[0], titles.at(-1)]).toEqual([
      expect.stringMatching(/^1 ms to 2 ms: \d+$/),
      expect.stringMatching(/^14 d to 30 d: 0$/),
    ]);
    const counted = titles.map((title) => Number(title.split(': ')[1]));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(RUNS);
    await page.getByRole('img', { name: new RegExp(`^Waited: ${RUNS + 3} jobs`) }).waitFor();
    const throughput = (range: string) =>
      page.getByRole('img', { name: new RegExp(`^Throughput: ${RUNS} done and 3 failed in ${range}`) });
    await throughput('2 hours').waitFor();
    expect(await throughput('2 hours').locator('title').count()).toBe(120);
    await page.getByRole('radio', { name: '2 days' }).check();
    await throughput('2 days').waitFor();
    await page.getByRole('radio', { name: '60 days' }).check();
    await throughput('60 days').waitFor();
    expect(await throughput('60 days').locator('title').count()).toBe(60);
    await page.getByText('0 waiting, 0 running').waitFor();
    expect(troubles).toEqual([]);
  });

  it('shows how a group of failures went over the days', { timeout: LONG }, async () => {
    const { page } = await web.open('/failures');
    const row = page.getByRole('row', { name: /bad frame/ });
    await row.getByRole('img', { name: 'failed tries in the last 14 days: 3' }).waitFor();
  });

  it('says that a job is slower than usual, and that it is silent', { timeout: LONG }, async () => {
    const { store } = await web.bench.longhaul();
    // Of this try alone: silent after half of what it may, and ended after the whole.
    const name = `without a word ${Date.now()}`;
    await web.bench.add('brief', null, { name });
    await store.jobs.add([{ id: 'calm', queue: 'past', data: '{}', name: 'taking its time' }]);
    await store.jobs.claim({ worker: 'test', queues: ['past'], limit: 1, requestId: 'one' });
    const { page, troubles } = await web.open('/');
    const slow = page.getByRole('row', { name: /taking its time/ });
    await slow.getByText('slower than usual').filter({ visible: true }).waitFor();
    const silent = page.getByRole('row', { name: new RegExp(name) });
    await silent.getByText(/silent, last heard of/).waitFor();
    expect(troubles).toEqual([]);
  });
});
