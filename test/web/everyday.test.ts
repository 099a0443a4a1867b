/** Everyday use: retry failed jobs, upload files, filter, settings, edit jobs, reconnect after a restart. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { eventually } from '../processes/scripts-workbench.ts';
import { PAGE_TIMEOUT_MS, WebBench } from './web-bench.ts';

const LONG = 120_000;

describe('everyday use of the web UI', () => {
  const web = new WebBench({
    prepare: (bench) => {
      // Fails until the file exists.
      bench.queue('mend', 'if [ -e "$0.mended~" ]; then echo mended; else echo "group broken pipe" >&3; exit 4; fi');
      bench.queue('copy', 'mkdir -p out; tr a-z A-Z < attach/letter.txt > out/shouted.txt');
      // Room for jobs that an aborted try left running.
      bench.queue('slow', 'echo begun; sleep 300', { concurrency: 9 });
    },
  });

  it('shows a failed job in its group, and retries the group', { timeout: LONG }, async () => {
    const name = `the pipe ${Date.now()}`;
    rmSync(join(web.bench.queues, 'mend.mended~'), { force: true });
    const id = await web.bench.add('mend', null, { name });
    await web.bench.until(id, 'failed');
    const { page, pageErrors } = await web.open('/failures');
    await page.getByRole('link', { name: 'broken pipe' }).click();
    await page.getByRole('link', { name }).waitFor();
    expect(new URL(page.url()).searchParams.get('group')).toBe('broken pipe');

    web.bench.queue('mend.mended~', 'true');
    await page.getByRole('link', { name: 'Failures' }).click();
    await page
      .getByRole('row', { name: /broken pipe/ })
      .getByRole('button', { name: 'Retry' })
      .click();
    await web.bench.until(id, 'done');
    await page.getByText('No failed jobs').waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('uploads a file with a new job, and downloads its output', { timeout: LONG }, async () => {
    const { page, pageErrors } = await web.open('/q/copy');
    await page.getByRole('button', { name: 'New job …' }).click();
    const file = { name: 'letter.txt', mimeType: 'text/plain', buffer: Buffer.from('dear reader\n') };
    await page.getByRole('dialog').locator('input[type=file]').setInputFiles(file);
    await drop(page, 'unwanted.txt');
    await page.getByRole('button', { name: 'remove unwanted.txt' }).click();
    await drop(page, 'dropped.txt');
    await page.getByRole('button', { name: 'Add job' }).click();
    const main = page.locator('main');
    await eventually(
      () => main.innerText(),
      (text) => text.includes('shouted.txt'),
      PAGE_TIMEOUT_MS,
    );
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'shouted.txt' }).click();
    const saved = join(web.bench.home, 'downloaded');
    await (await download).saveAs(saved);
    expect(readFileSync(saved, 'utf8')).toBe('DEAR READER\n');
    await page.getByRole('link', { name: 'letter.txt' }).waitFor();
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    expect(await page.getByRole('link', { name: 'unwanted.txt' }).count()).toBe(0);
    expect(pageErrors).toEqual([]);
  });

  it('keeps filters in the URL, so that they survive a reload', { timeout: LONG }, async () => {
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
    await page.getByText('More filters').click();
    await page.getByLabel('filter by tag').fill('t2');
    await page.getByLabel('filter by tag').press('Enter');
    await eventually(
      () => page.getByRole('row').count(),
      (rows) => rows === 2,
    );
    await page.reload();
    await page.getByRole('link', { name: 'job 2' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('filter by tag').inputValue()).toBe('t2');
    expect(await page.getByRole('button', { name: /^waiting/ }).getAttribute('aria-pressed')).toBe('true');
    // Text of any field, and local times.
    await page.getByRole('button', { name: 'clear' }).click();
    await page.getByLabel('filter by text').fill('NUMBER-3');
    await page.getByLabel('filter by text').press('Enter');
    await page.getByLabel('added after').fill('2026-01-01T10:00');
    await page.getByRole('link', { name: 'job 3' }).waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'job 3' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    expect(await page.getByLabel('added after').inputValue()).toBe('2026-01-01T10:00');
    await page.getByLabel('added before').fill('2026-01-02T10:00');
    await page.getByText('No job matches these filters').waitFor();
  });

  it('shows that the node is unreachable, and reconnects after its restart', { timeout: LONG }, async () => {
    const name = `patience ${Date.now()}`;
    const id = await web.bench.add('slow', null, { name });
    const { page, pageErrors } = await web.open('/');
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
    await page.getByText('ended', { exact: true }).waitFor();
    await page.getByText('ended', { exact: true }).waitFor({ state: 'hidden' });
    expect(pageErrors).toEqual([]);
  });

  it('edits settings of a queue, with errors beside the fields', { timeout: LONG }, async () => {
    const { page } = await web.open('/q/slow');
    await page.getByRole('button', { name: 'Settings …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[name=concurrency]').fill('many');
    await dialog.getByLabel(/^Maximum silence/).fill('2h');
    await dialog.getByRole('button', { name: 'Save settings' }).click();
    await dialog.getByText(/must be .*number|must be .*integer|whole/).waitFor();
    await dialog.locator('[name=concurrency]').fill('3');
    await dialog.getByText('All other settings').click();
    await dialog.getByLabel(/^retention/).fill('{"done": {"for": "2d"}}');
    await dialog.getByLabel(/^lease/).fill('soon');
    await dialog.getByRole('button', { name: 'Save settings' }).click();
    await dialog
      .locator('label', { hasText: 'lease' })
      .getByText(/must be a duration/)
      .waitFor();
    await dialog.getByLabel(/^lease/).fill('2m');
    await dialog.getByRole('button', { name: 'Save settings' }).click();
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

  it('sets a default for all queues, shows the source in a queue, and unsets it', {
    timeout: LONG,
  }, async () => {
    const { page, pageErrors } = await web.open('/settings');
    const section = page.getByRole('region', { name: 'Defaults for all queues' });
    await section.getByText('Edit defaults').click();
    await section.getByLabel(/^maxResends/).fill('many');
    await section.getByRole('button', { name: 'Save defaults' }).click();
    await section
      .locator('label', { hasText: 'maxResends' })
      .getByText(/must be a whole number/)
      .waitFor();
    await section.getByLabel(/^maxResends/).fill('4');
    await section.getByRole('button', { name: 'Save defaults' }).click();
    const unset = section.getByRole('button', { name: 'Unset maxResends' });
    await unset.waitFor();
    const other = await web.open('/q/slow');
    await other.page.getByRole('button', { name: 'Settings …' }).click();
    await other.page.getByRole('dialog').getByText('All other settings').click();
    await other.page
      .getByRole('dialog')
      .locator('label', { hasText: 'maxResends' })
      .getByText('set for all queues')
      .waitFor();
    await unset.click();
    await section.getByText('No default is changed').waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('edits a waiting job, moves it, and duplicates it', { timeout: LONG }, async () => {
    const { id } = await web.post<{ id: string }>('/api/jobs', {
      queue: 'later',
      delay: '1h',
      name: 'plan',
      data: { a: 1 },
    });
    const elsewhere = `elsewhere-${Date.now()}`;
    await web.post('/api/queues', { name: elsewhere });
    const { page } = await web.open(`/q/later/${id}`);
    await page.getByRole('button', { name: 'Edit …' }).click();
    await page.getByRole('dialog').getByLabel('Priority').fill('-5');
    await page.getByRole('dialog').getByLabel('Tags').fill('soon, red');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('soon, red').waitFor();
    await page.getByRole('button', { name: 'Move …' }).click();
    await page.getByRole('dialog').getByLabel('Queue').selectOption(elsewhere);
    await page.getByRole('button', { name: 'Move', exact: true }).click();
    await web.bench.until(id, (job) => job.queue === elsewhere && job.priority === -5);
    await page.getByRole('button', { name: 'Duplicate …' }).click();
    await page.getByRole('dialog').getByLabel('Data (JSON)').fill('{"a": ');
    await page.getByRole('button', { name: 'Add job' }).click();
    await page.getByRole('dialog').getByText(/JSON/).last().waitFor();
    await page.getByRole('dialog').getByLabel('Data (JSON)').fill('{"a": 2}');
    await page.getByRole('button', { name: 'Add job' }).click();
    await page.waitForURL((url) => !url.pathname.endsWith(id));
    const copy = await web.bench.find(decodeURIComponent(page.url().split('/').at(-1) ?? ''));
    expect(copy.data).toEqual({ a: 2 });
  });
});

/** Drops a file on the field. */
async function drop(page: Page, name: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    `(() => { const dragged = new DataTransfer(); dragged.items.add(new File(['by hand'], '${name}')); return dragged; })()`,
  );
  await page.getByText('Files: select them or drop them here').dispatchEvent('drop', { dataTransfer: transfer });
}
