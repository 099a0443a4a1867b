/** Hostile text in every field of users, scripts and workers is shown literally and has no effect. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { eventually } from '../processes/scripts-workbench.ts';
import { PAGE_TIMEOUT_MS, WebBench } from './web-bench.ts';

const TAG = '"><img src=x onerror=alert(1)>';
const ESCAPES = '\u001b]0;title\u0007\u001b[2J\u001b[31m';
const TURNED = '\u202Egnirts\u2066';
const HOSTILE = `${TAG}${TURNED}${ESCAPES}'};alert(2)//`;
const LONG = 120_000;

describe('hostile text', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue(
        'wild',
        `printf '%s\\n' '${TAG}' 'javascript:alert(3)' $'\\e]8;;javascript:alert(4)\\e\\\\link\\e]8;;\\e\\\\'
printf 'x%.0s' {1..50000}; echo
mkdir -p out; echo made > 'out/<img src=x onerror=alert(5)>.html'
echo 'progress 40 ${TAG}' >&3
if [ "$LONGHAUL_PARAM1" = fail ]; then echo 'group ${TAG}' >&3; echo 'err ${TAG}' >&3; exit 1; fi
[ "$LONGHAUL_PARAM1" = stay ] && exec -a '${TAG}' sleep 300
exit 0`,
        { concurrency: 12 },
      );
    },
  });

  const add = (param1: string) =>
    web.post<{ id: string }>('/api/jobs', {
      queue: 'wild',
      name: `${TAG} ${param1}`,
      tags: [TAG, TURNED],
      data: { param1, [TAG]: HOSTILE, long: 'y'.repeat(100_000) },
    });

  it('is shown literally on every page, without a dialog or a violation of the content security policy', {
    timeout: LONG,
  }, async () => {
    // Paused below, and perhaps by an earlier try.
    await web.post('/api/queues/wild/resume', {});
    const [failed, done, staying] = await Promise.all([add('fail'), add('go'), add('stay')]);
    await web.bench.until(failed.id, 'failed');
    await web.bench.until(done.id, 'done');
    await web.bench.until(staying.id, (job) => job.progress?.text === TAG);
    await web.post('/api/queues/wild/pause', { note: TAG });
    const group = encodeURIComponent(TAG);
    const paths = [
      '/',
      '/queues',
      '/q/wild',
      `/q/wild?tag=${group}`,
      '/failures',
      '/workers',
      '/settings',
      `/search?for=${group}`,
    ];
    const jobs = [failed, done, staying].map(({ id }) => `/q/wild/${id}`);
    const compared = `/compare?a=${failed.id}&b=${done.id}`;
    const { page, pageErrors } = await web.open('/');
    for (const path of [...paths, ...jobs, compared, '/q/wild/%3Cimg%20src=x%20onerror=alert(6)%3E']) {
      await page.goto(new URL(path, web.url).href);
      if (!/workers|settings|%3Cimg%20src/.test(path)) await shown(page, path);
      else await page.locator('main').getByText(/./).first().waitFor();
      const images = await page.locator('img').count();
      const scripts = await page.locator('a[href^="javascript:"]').count();
      expect({ path, images, scripts, pageErrors }).toEqual({ path, images: 0, scripts: 0, pageErrors: [] });
    }
    await web.post(`/api/jobs/${staying.id}/cancel`, {});
  });

  it('has no effect on admin pages, in worker records, and in every dialog', {
    timeout: LONG,
  }, async () => {
    await web.post('/api/queues/wild/resume', {});
    const staying = await add('stay');
    const failed = await add('fail');
    await web.bench.until(failed.id, 'failed');
    await web.post('/api/store/keepWorker', {
      argument: {
        id: 'wild',
        host: TAG,
        pid: 1,
        queues: ['wild'],
        leaseMs: 60_000,
        info: JSON.stringify(HOSTILE),
        kind: 'register',
      },
    });
    const { page, pageErrors } = await web.openAsAdmin();
    const visit = async (path: string) => {
      await page.goto(new URL(path, web.url).href);
      await shown(page, path);
    };
    await page.goto(new URL('/settings', web.url).href);
    const tokens = page.getByRole('region', { name: 'Tokens' }).first();
    await tokens.getByLabel('Name').fill(TAG);
    await tokens.getByLabel('Role').selectOption('operate');
    await tokens.getByRole('button', { name: 'Create token' }).click();
    await tokens.getByRole('row', { name: TAG }).first().waitFor();
    // The name of the token is the actor of the next audit row.
    const token = await tokens.getByRole('status').locator('code').innerText();
    await fetch(new URL('/api/queues/wild/resume', web.url), {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    await visit('/workers');
    await visit('/settings');
    await page
      .getByRole('table', { name: 'Audit log' })
      .getByText('onerror')
      .filter({ visible: true })
      .first()
      .waitFor();

    const dialog = page.getByRole('dialog');
    const opened = async (path: string, button: string) => {
      await visit(path);
      await page.getByRole('button', { name: button }).first().click();
      await dialog.waitFor();
      return dialog;
    };
    await (await opened(`/q/wild/${staying.id}`, 'Cancel job …')).getByRole('row', { name: TAG }).waitFor();
    const changed = await opened(`/q/wild/${failed.id}`, 'Duplicate …');
    expect(await changed.getByLabel('Name').inputValue()).toBe(`${TAG} fail`);
    await (await opened('/failures', 'Delete …')).getByText(TAG).waitFor();
    await (await opened('/q/wild', 'New job …')).locator('input[type=file]').setInputFiles({
      name: '<img src=x onerror=alert(7)>',
      mimeType: 'text/html',
      buffer: Buffer.from(TAG),
    });
    await dialog.getByText('onerror=alert(7)').waitFor();
    expect({ images: await page.locator('img').count(), pageErrors }).toEqual({ images: 0, pageErrors: [] });
    await web.post(`/api/jobs/${staying.id}/cancel`, {});
  });

  it('is shown unchanged in the log, attachments, failure and data of a job', { timeout: LONG }, async () => {
    const { id } = await add('fail');
    await web.post('/api/queues/wild/resume', {});
    await web.bench.until(id, 'failed');
    const { page, pageErrors } = await web.open(`/q/wild/${id}`);
    const lines = page.getByRole('region', { name: 'Lines of the log' });
    await lines.getByText(TAG).waitFor();
    await lines.getByText('javascript:alert(3)').waitFor();
    expect(await lines.getByRole('link', { name: 'link' }).count()).toBe(0);
    await lines.getByText('more characters in the file').waitFor();
    await lines.getByRole('button', { name: 'show' }).click();
    await page
      .getByRole('dialog')
      .getByText(/^x{50000}$/)
      .waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: '<img src=x onerror=alert(5)>.html' }).waitFor();
    await page.locator('pre').getByText('onerror=alert(1)').first().waitFor();
    expect(await page.title()).not.toContain('\u001b');
    expect(pageErrors).toEqual([]);
  });
});

/** Waits until the text of the page contains the hostile text. */
async function shown(page: Page, path: string): Promise<void> {
  const text = page.locator('main');
  await eventually(
    async () => `${path}: ${await text.innerText()}`,
    (words) => words.includes(TAG),
    PAGE_TIMEOUT_MS,
  );
}
