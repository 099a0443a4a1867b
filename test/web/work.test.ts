/** What people do on the page every day: find what failed and run it again, send files, filter, come back after a restart. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { eventually } from '../processes/scripts-workbench.ts';
import { PATIENCE_MS, PageBench } from './page-bench.ts';

const LONG = 120_000;

describe('the page of a node at work', () => {
  const web = new PageBench({
    prepare: (bench) => {
      // Fails until somebody has mended what was wrong.
      bench.queue('mend', 'if [ -e "$0.mended~" ]; then echo mended; else echo "group broken pipe" >&3; exit 4; fi');
      bench.queue('copy', 'mkdir -p out; tr a-z A-Z < attach/letter.txt > out/shouted.txt');
      // Room for those of a try that came to no end.
      bench.queue('slow', 'echo begun; sleep 300', { concurrency: 9 });
    },
  });

  it('shows a failed job in its group, from where it is run again', { timeout: LONG }, async () => {
    const name = `the pipe ${Date.now()}`;
    rmSync(join(web.bench.queues, 'mend.mended~'), { force: true });
    const id = await web.bench.add('mend', null, { name });
    await web.bench.until(id, 'failed');
    const { page, troubles } = await web.open('/failures');
    await page.getByRole('link', { name: 'broken pipe' }).click();
    await page.getByRole('link', { name }).waitFor();
    expect(new URL(page.url()).searchParams.get('group')).toBe('broken pipe');

    web.bench.queue('mend.mended~', 'true');
    await page.getByRole('link', { name: 'Failures' }).click();
    await page
      .getByRole('row', { name: /broken pipe/ })
      .getByRole('button', { name: 'Run again' })
      .click();
    await web.bench.until(id, 'done');
    await page.getByText('Nothing has failed').waitFor();
    expect(troubles).toEqual([]);
  });

  it('takes a file with a new job, and gives back what the job made of it', { timeout: LONG }, async () => {
    const { page, troubles } = await web.open('/q/copy');
    await page.getByRole('button', { name: 'New job …' }).click();
    const file = { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('dear reader\n') };
    await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file);
    await drop(page, 'unwanted.txt');
    await page.getByRole('button', { name: 'remove unwanted.txt' }).click();
    await drop(page, 'dropped.txt');
    await page.getByRole('button', { name: 'Add the job' }).click();
    const main = page.locator('main');
    await eventually(
      () => main.innerText(),
      (text) => text.includes('shouted.txt'),
      PATIENCE_MS,
    );
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'shouted.txt' }).click();
    const saved = join(web.bench.home, 'downloaded');
    await (await download).saveAs(saved);
    expect(readFileSync(saved, 'utf8')).toBe('DEAR READER\n');
    await page.getByRole('link', { name: 'letter.txt' }).waitFor();
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    expect(await page.getByRole('link', { name: 'unwanted.txt' }).count()).toBe(0);
    expect(troubles).toEqual([]);
  });

  it('keeps filters in the address, so that they survive a reload', { timeout: LONG }, async () => {
    const queue = `later-${Date.now()}`;
    const body = [1, 2, 3].map((number) => ({
      queue,
      delay: '1h',
      name: `job ${number}`,
      tags: [`t${number}`],
      data: { is: `number-${number}` },
    }));
    await web.post('/api/jobs', body);
    const { page } = await web.open(`/q/${queue}`);
    await page.getByRole('button', { name: /^waiting/ }).click();
    await page.getByLabel('only of tag').fill('t2');
    await page.getByLabel('only of tag').press('Enter');
    await eventually(
      () => page.getByRole('row').count(),
      (rows) => rows === 2,
    );
    await page.reload();
    await page.getByRole('link', { name: 'job 2' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('only of tag').inputValue()).toBe('t2');
    expect(await page.getByRole('button', { name: /^waiting/ }).getAttribute('aria-pressed')).toBe('true');
    // Words of anything, and times of the one who looks.
    await page.getByRole('button', { name: 'clear' }).click();
    await page.getByLabel('only of text').fill('NUMBER-3');
    await page.getByLabel('only of text').press('Enter');
    await page.getByLabel('added from').fill('2026-01-01T10:00');
    await page.getByRole('link', { name: 'job 3' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'job 3' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('added from').inputValue()).toBe('2026-01-01T10:00');
    await page.getByLabel('to', { exact: true }).fill('2026-01-02T10:00');
    await page.getByText('No job fits these filters').waitFor();
  });

  it('says calmly that the node is away, and comes back by itself after its restart', { timeout: LONG }, async () => {
    const name = `patience ${Date.now()}`;
    const id = await web.bench.add('slow', null, { name });
    const { page, troubles } = await web.open('/');
    await page.getByRole('link', { name }).waitFor();
    await web.served.terminate();
    try {
      await page.getByText('The node does not answer.').waitFor();
      await page.getByRole('link', { name }).waitFor();
    } finally {
      await web.serve();
    }
    await page.getByText('The node does not answer.').waitFor({ state: 'hidden' });
    await web.post('/api/jobs', { queue: `made-${Date.now()}`, delay: '1h', name: 'after the restart' });
    await page
      .getByRole('link', { name: /^made-/ })
      .last()
      .waitFor();
    await web.post(`/api/jobs/${id}/cancel`, {});
    await page.getByText('has ended').waitFor();
    await page.getByText('has ended').waitFor({ state: 'hidden' });
    expect(troubles).toEqual([]);
  });

  it('changes settings of a queue, with the errors beside the fields', { timeout: LONG }, async () => {
    const { page } = await web.open('/q/slow');
    await page.getByRole('button', { name: 'Settings …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[name=concurrency]').fill('many');
    await dialog.getByLabel(/^Longest silence/).fill('2h');
    await dialog.getByRole('button', { name: 'Change the settings' }).click();
    await dialog.getByText(/must be .*number|must be .*integer|whole/).waitFor();
    await dialog.locator('[name=concurrency]').fill('3');
    await dialog.getByText('Every other setting').click();
    await dialog.getByLabel(/^retention/).fill('{"done": {"for": "2d"}}');
    await dialog.getByLabel(/^lease/).fill('soon');
    await dialog.getByRole('button', { name: 'Change the settings' }).click();
    await dialog
      .locator('label', { hasText: 'lease' })
      .getByText(/must be a duration/)
      .waitFor();
    await dialog.getByLabel(/^lease/).fill('2m');
    await dialog.getByRole('button', { name: 'Change the settings' }).click();
    await dialog.waitFor({ state: 'detached' });
    const queue = (await (await fetch(new URL('/api/queues/slow', web.url))).json()) as {
      settings: object;
    };
    expect(queue.settings).toMatchObject({
      concurrency: 3,
      maxSilenceMs: 7_200_000,
      leaseMs: 120_000,
      retention: { done: { ms: 172_800_000 } },
    });
  });

  it('sets something for every queue, shows where a queue has it from, and takes it back', {
    timeout: LONG,
  }, async () => {
    const { page, troubles } = await web.open('/settings');
    const section = page.getByRole('region', { name: 'Every queue' });
    await section.getByText('Change them').click();
    await section.getByLabel(/^maxResends/).fill('many');
    await section.getByRole('button', { name: 'Change for every queue' }).click();
    await section
      .locator('label', { hasText: 'maxResends' })
      .getByText(/must be a whole number/)
      .waitFor();
    await section.getByLabel(/^maxResends/).fill('4');
    await section.getByRole('button', { name: 'Change for every queue' }).click();
    const unset = section.getByRole('button', { name: 'Unset maxResends' });
    await unset.waitFor();
    const other = await web.open('/q/slow');
    await other.page.getByRole('button', { name: 'Settings …' }).click();
    await other.page.getByRole('dialog').getByText('Every other setting').click();
    await other.page
      .getByRole('dialog')
      .locator('label', { hasText: 'maxResends' })
      .getByText('set for every queue')
      .waitFor();
    await unset.click();
    await section.getByText('Nothing is set for every queue').waitFor();
    expect(troubles).toEqual([]);
  });

  it('changes a waiting job, moves it, and makes another after it', { timeout: LONG }, async () => {
    const { id } = await web.post<{ id: string }>('/api/jobs', {
      queue: 'later',
      delay: '1h',
      name: 'plan',
      data: { a: 1 },
    });
    const elsewhere = `elsewhere-${Date.now()}`;
    await web.post('/api/queues', { name: elsewhere });
    const { page } = await web.open(`/q/later/${id}`);
    await page.getByRole('button', { name: 'Change …' }).click();
    await page.getByRole('dialog').getByLabel('Priority').fill('-5');
    await page.getByRole('dialog').getByLabel('Tags').fill('soon, red');
    await page.getByRole('button', { name: 'Change it' }).click();
    await page.getByText('soon, red').waitFor();
    await page.getByRole('button', { name: 'Move …' }).click();
    await page.getByRole('dialog').getByLabel('Queue').selectOption(elsewhere);
    await page.getByRole('button', { name: 'Move it' }).click();
    await web.bench.until(id, (job) => job.queue === elsewhere && job.priority === -5);
    await page.getByRole('button', { name: 'Duplicate …' }).click();
    await page.getByRole('dialog').getByLabel('Data (JSON)').fill('{"a": ');
    await page.getByRole('button', { name: 'Add the job' }).click();
    await page.getByRole('dialog').getByText(/JSON/).last().waitFor();
    await page.getByRole('dialog').getByLabel('Data (JSON)').fill('{"a": 2}');
    await page.getByRole('button', { name: 'Add the job' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    const copy = await web.bench.find(decodeURIComponent(page.url().split('/').at(-1) ?? ''));
    expect(copy.data).toEqual({ a: 2 });
  });
});

/** A file that is dragged onto the field and let go there. */
async function drop(page: Page, name: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const dragged = new DataTransfer(); dragged.items.add(new File(['by hand'], '${name}')); return dragged; })()`,
  );
  await page.getByText('Files: choose them or drop them here').dispatchEvent('drop', { dataTransfer: transfer });
}
