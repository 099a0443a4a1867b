/** Actions that need the role admin: setting a script, tokens and the audit log; and the notice for other roles. */
import { describe, expect, it } from 'vitest';
import { WebBench } from './web-bench.ts';

const LONG = 120_000;

describe('the web UI of an admin', () => {
  const web = new WebBench({
    prepare: (bench) => {
      bench.queue('hello', 'echo hello');
      bench.queue('kept', 'true');
    },
  });

  it('creates a queue with a script, which an operator cannot', { timeout: LONG }, async () => {
    const queue = `made-${Date.now()}`;
    const operator = await web.open('/queues');
    await operator.page.getByRole('button', { name: 'New queue …' }).click();
    const refused = operator.page.getByRole('dialog');
    await refused.getByText('You have the role operate.').waitFor();
    await refused.getByLabel('Name').fill(queue);
    await refused.getByLabel('Script').fill(`${web.bench.queues}/hello`);
    await refused.getByRole('button', { name: 'Create queue' }).click();
    await refused.getByRole('alert').waitFor();

    const { page, pageErrors } = await web.openAsAdmin();
    await page.getByRole('link', { name: 'Queues' }).click();
    await page.getByRole('button', { name: 'New queue …' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(queue);
    await dialog.getByLabel('Script').fill(`${web.bench.queues}/hello`);
    await dialog.getByRole('button', { name: 'Create queue' }).click();
    await page.waitForURL((url) => url.pathname === `/q/${queue}`);
    await page.getByText('This queue has no jobs').waitFor();
    const made = await (await fetch(new URL(`/api/queues/${queue}`, web.url))).json();
    expect(made).toMatchObject({ settings: { script: `${web.bench.queues}/hello` } });
    expect(pageErrors).toEqual([]);
  });

  it('creates a token that is shown once, revokes it, and finds both in the audit log', { timeout: LONG }, async () => {
    const name = `for the build ${Date.now()}`;
    const kept = await web.bench.add('kept', { some: 'bytes' });
    await web.bench.until(kept, 'done');
    const { page, pageErrors } = await web.openAsAdmin();
    await page.getByRole('link', { name: 'Settings' }).click();
    const tokens = page.getByRole('region', { name: 'Tokens' }).first();
    await tokens.getByLabel('Name').fill(name);
    await tokens.getByLabel('Role').selectOption('read');
    await tokens.getByRole('button', { name: 'Create token' }).click();
    const secret = await tokens.getByRole('status').locator('code').innerText();
    const asIt = () => fetch(new URL('/api/me', web.url), { headers: { authorization: `Bearer ${secret}` } });
    expect(await (await asIt()).json()).toMatchObject({ role: 'read' });
    await tokens.getByRole('row', { name }).getByRole('button', { name: 'Revoke' }).click();
    await tokens.getByRole('row', { name }).waitFor({ state: 'detached' });
    await page.reload();
    await page
      .getByRole('cell', { name: `Revoked token ${name}` })
      .first()
      .waitFor();
    const storage = page.getByRole('table', { name: 'Storage by queue' });
    await storage.getByRole('row', { name: /^kept .* B$/ }).waitFor();
    await page.getByRole('button', { name: 'Show what is past retention' }).click();
    await storage.getByRole('row', { name: /^kept .* B 0$/ }).waitFor();
    await page
      .getByRole('cell', { name: `Created token ${name}` })
      .first()
      .waitFor();
    expect(await page.getByText(secret).count()).toBe(0);
    expect(pageErrors).toEqual([]);
  });
});
