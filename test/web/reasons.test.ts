/** The reasons that a page must show: why a job failed, and that no worker exists for a waiting one. */
import { describe, expect, it } from 'vitest';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

describe('the reason', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue('import', 'echo "reading $RQ_PARAM1"; echo "Error: row 1734 has 11 fields" >&2; echo bye; exit 3');
      bench.queue('slow', 'exec sleep 300', { grace: '1s' });
    },
  });

  it('of a failure is the error line of the log: on the job, in the list, in the failure groups, and only once', {
    timeout: LONG,
  }, async () => {
    const ids = [
      await web.bench.add('import', { param1: 'a.csv' }),
      await web.bench.add('import', { param1: 'b.csv' }),
    ];
    for (const id of ids) await web.bench.until(id, 'failed');
    const { page, pageErrors } = await web.open(`/q/import/${ids[0]}`);
    const box = page.getByRole('note', { name: 'Failure' });
    await box.getByText('exit 3: Error: row 1734 has 11 fields', { exact: true }).waitFor();
    await box.getByRole('link', { name: 'Jobs with the same failure' }).click();
    const rows = page.getByRole('table', { name: 'Jobs' }).getByRole('row');
    await rows.getByText('exit 3: Error: row 1734 has 11 fields', { exact: true }).nth(1).waitFor();
    await page.goto(new URL('/failures', web.url).href);
    await page.getByRole('row', { name: /^exit 3: Error: row \* has \* fields import 2 / }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('of a job without any worker is amber on the home page, on its queue and on the job', {
    timeout: LONG,
  }, async () => {
    const { id } = await web.post<{ id: string }>('/api/jobs', { queue: 'unworked', name: 'alone' });
    const { page, pageErrors } = await web.open('/');
    const row = page.getByRole('table', { name: 'Queues' }).getByRole('row', { name: /^unworked / });
    await row.getByRole('cell', { name: 'no worker', exact: true }).waitFor();
    await page.getByRole('region', { name: 'Totals' }).getByText('waiting, some without a worker').waitFor();
    await row.getByRole('link', { name: 'unworked' }).click();
    await page.getByText('Jobs wait, and no worker is registered for this queue.').waitFor();
    await page.getByText('waiting · no worker', { exact: true }).waitFor();
    await page.goto(new URL(`/q/unworked/${id}`, web.url).href);
    await page.getByText('waiting · no worker', { exact: true }).waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('of a cancelled attempt is cancelled: in its title, its attempts and its timeline', {
    timeout: LONG,
  }, async () => {
    const id = await web.bench.add('slow');
    await web.bench.until(id, 'running');
    await (await web.bench.longhaul()).cancel(id);
    await web.bench.until(id, 'cancelled');
    const { page } = await web.open(`/q/slow/${id}`);
    await page.getByRole('heading', { level: 1 }).getByText('cancelled', { exact: true }).waitFor();
    await page
      .getByRole('table', { name: 'Attempts' })
      .getByRole('row', { name: /^1 cancelled / })
      .waitFor();
    await page.getByRole('img', { name: /attempt 1 ran for .*, cancelled/ }).waitFor();
    expect(await page.getByRole('note', { name: 'Failure' }).count()).toBe(0);
  });
});
