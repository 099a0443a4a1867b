/** Statistics in the web UI: wait and run times, throughput, slow and silent jobs, failure trends. */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;
const RUNS = 25;

describe('the statistics of the web UI', () => {
  const web = new WebBench({
    prepare: (bench) => void bench.queue('brief', 'echo once; sleep 300', { maxSilence: '16s', concurrency: 9 }),
  });

  /** Settles jobs through the store port, before any page fetches the statistics. */
  beforeAll(async () => {
    const { store } = await web.bench.longhaul();
    const ids = Array.from({ length: RUNS + 3 }, () => randomUUID());
    await store.jobs.add(ids.map((id) => ({ id, queue: 'history', data: '{"film":"harbour"}', tags: ['old'] })));
    const { jobs } = await store.jobs.claim({
      worker: 'test',
      queues: ['history'],
      limit: ids.length,
      requestId: 'all',
    });
    const failure = { group: 'bad frame', message: 'frame 7 is bad', detail: null };
    await store.jobs.settle(
      jobs.map(({ id, lease }, place) =>
        place < RUNS
          ? { kind: 'complete', id, token: lease?.token ?? 0 }
          : { kind: 'fail', id, token: lease?.token ?? 0, failure, delayMs: 0 },
      ),
    );
  });

  it('draws wait and run times on logarithmic axes, and throughput over a selected range', {
    timeout: LONG,
  }, async () => {
    const { page, pageErrors } = await web.open('/q/history');
    const numbers = new RegExp(`^Run time: ${RUNS} jobs, median .* m?s, p95 .* m?s$`);
    const runs = page.getByRole('img', { name: numbers });
    await runs.waitFor();
    // Thirty bars from 1 ms to 30 days, each with its bounds and count.
    const titles = await runs.locator('title').allTextContents();
    expect([titles[0], titles.at(-1)]).toEqual([
      expect.stringMatching(/^1 ms to 2 ms: \d+$/),
      expect.stringMatching(/^14 d to 30 d: 0$/),
    ]);
    const counted = titles.map((title) => Number(title.split(': ')[1]));
    expect(counted.reduce((sum, count) => sum + count, 0)).toBe(RUNS);
    await page.getByRole('img', { name: new RegExp(`^Wait time: ${RUNS + 3} jobs`) }).waitFor();
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
    expect(pageErrors).toEqual([]);
  });

  it('shows the trend of a failure group', { timeout: LONG }, async () => {
    const { page } = await web.open('/failures');
    const row = page.getByRole('row', { name: /bad frame/ });
    await row.getByRole('img', { name: 'failed attempts in the last 14 days: 3' }).waitFor();
  });

  it('marks a job that is slower than usual, and a silent one', { timeout: LONG }, async () => {
    const { store } = await web.bench.longhaul();
    // Marked as silent after half of maxSilence, and failed after all of it.
    const name = `without a word ${Date.now()}`;
    await web.bench.add('brief', null, { name });
    await store.jobs.add([{ id: 'calm', queue: 'history', data: '{}', name: 'taking its time' }]);
    await store.jobs.claim({ worker: 'test', queues: ['history'], limit: 1, requestId: 'one' });
    const { page, pageErrors } = await web.open('/');
    const slow = page.getByRole('row', { name: /taking its time/ });
    await slow.getByText('slower than usual').filter({ visible: true }).waitFor();
    const silent = page.getByRole('row', { name: new RegExp(name) });
    await silent.getByText(/silent, last output/).waitFor();
    expect(pageErrors).toEqual([]);
  });
});
