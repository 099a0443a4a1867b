/** The web UI inside an application of the user: Express, Fastify and Hono as processes, with a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { startFixture } from '../support/processes.ts';
import { testSize } from '../support/test-size.ts';
import { browserEndpoint } from './web-bench.ts';

/** One in `npm test`, all at full size. */
const FRAMEWORKS = testSize({ small: ['express'], full: ['express', 'fastify', 'hono'] });

interface App {
  readonly url: string;
  readonly longhaul: Longhaul;
}

async function start(framework: string): Promise<App> {
  const store = mkdtempSync(join(tmpdir(), 'longhaul-mounted-'));
  onTestFinished(() => rmSync(store, { recursive: true, force: true }));
  const isExample = framework === 'express';
  const file = isExample ? '../../examples/express-web-ui/app.mjs' : 'mounted-app.mjs';
  const app = await startFixture(file, isExample ? [] : [framework, store], { env: { STORE: store, PORT: '0' } });
  const { url } = await app.next((message) => typeof message['url'] === 'string');
  const longhaul = await connect(store);
  onTestFinished(async () => {
    await app.terminate();
    await longhaul.close();
  });
  return { url: String(url), longhaul };
}

/** Sends a request as a browser does from a page of the application, unless the headers say otherwise. */
async function ask(app: App, method: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  const json = method === 'GET' ? {} : { 'content-type': 'application/json', origin: app.url };
  const body = method === 'GET' ? {} : { body: '{}' };
  return fetch(new URL(path, app.url), { method, redirect: 'manual', ...body, headers: { ...json, ...headers } });
}

const OPERATE = { cookie: 'role=operate' };

describe.each(FRAMEWORKS)('the web UI inside %s', (framework) => {
  it('shows jobs in a browser, below its path, and follows them as they change', async () => {
    const app = await start(framework);
    await app.longhaul.queue('mail').add({ to: 'ada' }, { id: 'letter', name: 'first letter' });
    const browser = await chromium.connect(browserEndpoint());
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', (error) => errors.push(error.message));
    await page.goto(`${app.url}/admin/jobs`);
    await page.getByRole('link', { name: 'mail' }).first().click();
    await page.getByText('first letter').first().click();
    await expect.poll(() => page.url()).toBe(`${app.url}/admin/jobs/q/mail/letter`);
    await page.reload();
    await page.getByText('first letter').first().waitFor();
    expect(await page.getByRole('button', { name: 'Cancel job' }).count()).toBe(0);
    await page.context().addCookies([{ name: 'role', value: 'operate', url: app.url }]);
    await page.reload();
    await page.getByRole('button', { name: 'Cancel job' }).first().waitFor();
    await app.longhaul.cancel('letter');
    await page.getByText('cancelled').first().waitFor();
    expect(errors).toEqual([]);
  });

  it('gives each caller the role that the application returns, and only to its own pages', async () => {
    const app = await start(framework);
    await app.longhaul.queue('mail').add(1, { id: 'letter' });
    const cancel = '/admin/jobs/api/jobs/letter/cancel';
    const status = async (...asked: Parameters<typeof ask>): Promise<number> => (await ask(...asked)).status;
    expect(await status(app, 'GET', '/admin/jobs/api/jobs/letter')).toBe(200);
    expect(await status(app, 'POST', cancel)).toBe(403);
    expect(await status(app, 'GET', '/admin/jobs/', { cookie: 'role=none' })).toBe(403);
    expect(await status(app, 'GET', '/admin/jobs/api/jobs/letter', { cookie: 'role=none' })).toBe(403);
    expect(await status(app, 'POST', '/view/api/jobs/letter/cancel', OPERATE)).toBe(403);
    expect(await status(app, 'POST', cancel, { ...OPERATE, origin: 'http://evil.example' })).toBe(403);
    expect(await status(app, 'POST', cancel, { ...OPERATE, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect((await app.longhaul.find('letter'))?.state).toBe('waiting');
    expect(await status(app, 'POST', cancel, OPERATE)).toBe(200);
    expect((await app.longhaul.find('letter'))?.state).toBe('cancelled');
    for (const path of ['api/tokens', 'api/store/find', 'login'])
      expect(await status(app, 'GET', `/admin/jobs/${path}`, OPERATE)).toBe(404);
    const moved = await ask(app, 'GET', '/admin/jobs');
    expect([moved.status, moved.headers.get('location')]).toEqual([308, '/admin/jobs/']);
    expect(await status(app, 'GET', '/admin/jobsuite')).toBe(404);
  });
});
