/** The page of schedules: create, edit, pause, resume, run now, delete; the timeline of the next 24 hours. */
import { describe, expect, it } from 'vitest';
import type { ScheduleView } from '../../src/wire/schedule-view.ts';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

describe('the page of schedules', () => {
  const web = new WebBench({ prepare: (bench) => void bench.queue('hello', 'echo hello') });
  const find = async (name: string) =>
    (await (await fetch(new URL(`/api/schedules/${name}`, web.url))).json()) as ScheduleView;

  it('creates a schedule, describes its rule, and shows its timeline', { timeout: LONG }, async () => {
    await fetch(new URL('/api/schedules/often', web.url), { method: 'DELETE' });
    const { page, pageErrors } = await web.open('/');
    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByText('No schedules yet').waitFor();
    await page.getByRole('button', { name: 'New schedule …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('often');
    await dialog.getByRole('combobox', { name: 'Queue' }).fill('hello');
    await dialog.getByRole('textbox', { name: 'Cron' }).fill('0 0 30 2 *');
    await dialog.getByText('never fires').waitFor();
    await dialog.getByRole('button', { name: 'Create schedule' }).click();
    await dialog.getByRole('alert').getByText('there is no such day').first().waitFor();
    await dialog.getByRole('textbox', { name: 'Cron' }).fill('0 */6 * * *');
    await dialog.getByLabel('Time zone').fill('Asia/Kolkata');
    await dialog.getByText('every day at 00:00, 06:00, 12:00 and 18:00 (Asia/Kolkata)').waitFor();
    await dialog.getByRole('button', { name: 'Create schedule' }).click();
    const row = page.getByRole('row', { name: /often/ });
    await row.getByText('every day at 00:00, 06:00, 12:00 and 18:00 (Asia/Kolkata)').waitFor();
    await row.getByText(/^in \d+ (h|m|s)$/).waitFor();
    await page.getByRole('heading', { name: 'Next 24 hours' }).waitFor();
    await page.getByRole('img', { name: /^often: 4 runs, the first at 20/ }).waitFor();
    expect(await find('often')).toMatchObject({ overlap: 'skip', zone: 'Asia/Kolkata', data: {} });
    expect(pageErrors).toEqual([]);
  });

  it('edits, pauses, resumes, runs and deletes a schedule', { timeout: LONG }, async () => {
    await fetch(new URL('/api/schedules/hourly', web.url), { method: 'DELETE' });
    const body = { every: '1h', offset: '7m', queue: 'hello', options: { tags: ['kept'] } };
    await fetch(new URL('/api/schedules/hourly', web.url), {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { page, pageErrors } = await web.open('/schedules');
    const row = page.getByRole('row', { name: /hourly/ });
    await row.getByText('every hour, 7m past').waitFor();

    await row.getByRole('button', { name: 'Edit …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Every' }).fill('2h');
    await dialog.getByLabel('Overlap').selectOption('queue');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await row.getByText('every 2 hours, 7m past').waitFor();
    expect(await find('hourly')).toMatchObject({
      every: '2h',
      overlap: 'queue',
      data: null,
      options: { tags: ['kept'] },
    });

    await row.getByRole('button', { name: 'Pause …' }).click();
    await page.getByRole('dialog').getByLabel('Note').fill('holidays');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await row.getByText('paused: holidays').waitFor();
    await row.getByRole('button', { name: 'Resume' }).click();
    await row.getByRole('button', { name: 'Pause …' }).waitFor();

    await row.getByRole('button', { name: 'Run now' }).click();
    await page.waitForURL(/\/q\/hello\/hourly(@|%40).*now$/);
    await page.getByText('done').first().waitFor();
    await page.goBack();
    await row.getByRole('link', { name: 'done' }).waitFor();
    await page.getByRole('img', { name: /^hourly: 12 runs, each about \d.*, the first at 20/ }).waitFor();

    await row.getByRole('button', { name: 'Delete …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    await row.waitFor({ state: 'detached' });
    expect((await fetch(new URL('/api/schedules/hourly', web.url))).status).toBe(404);
    expect(pageErrors).toEqual([]);
  });

  it('shows the expected duration once a run has ended', { timeout: LONG }, async () => {
    const address = new URL('/api/schedules/early', web.url);
    await fetch(address, { method: 'DELETE' });
    const headers = { 'content-type': 'application/json' };
    await fetch(address, { method: 'PUT', headers, body: JSON.stringify({ every: '2h', queue: 'hello' }) });
    const { page, pageErrors } = await web.open('/schedules');
    await page.getByRole('img', { name: /^early: 12 runs, the first at 20/ }).waitFor();
    expect((await fetch(new URL('/api/schedules/early/run', web.url), { method: 'POST' })).ok).toBe(true);
    await page.getByRole('img', { name: /^early: 12 runs, each about \d/ }).waitFor();
    expect(pageErrors).toEqual([]);
  });
});
