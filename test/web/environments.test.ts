/** The web UI behind a proxy with a sub-path, with a read-only token, with several nodes, and in a hidden tab. */
import { writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { NodeBench } from '../node/nodes-bench.ts';
import { eventually } from '../processes/scripts-workbench.ts';
import { hasRedis, startRedis } from '../support/redis-server.ts';
import { logIn, WebBench } from './web-bench.ts';

const LONG = 120_000;
const PREFIX = '/tools/jobs';

describe('the web UI in other environments', () => {
  const web = new WebBench({
    prepare: (bench) => {
      // Room for jobs that an aborted try left running.
      bench.queue('slow', 'echo begun; sleep 300', { concurrency: 9 });
      bench.queue('file', 'mkdir -p out; echo made > out/made.txt');
      bench.queue('broken', 'exit 3');
      bench.queue('far', 'echo "told from afar"; echo "progress 70 half the way" >&3; sleep 300', { concurrency: 9 });
      writeFileSync(join(bench.home, 'node.json'), JSON.stringify({ allowDestinations: ['127.0.0.1'] }), {
        mode: 0o600,
      });
    },
  });
  const proxy = createServer((asked, answer) => {
    if (!asked.url?.startsWith(`${PREFIX}/`)) return void answer.writeHead(404).end('not of the node');
    const { hostname, port } = new URL(web.url);
    const path = asked.url.slice(PREFIX.length);
    const passed = request({ hostname, port, path, method: asked.method, headers: asked.headers }, (found) => {
      answer.writeHead(found.statusCode ?? 502, found.headers);
      found.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
    return undefined;
  });
  let outside = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
    outside = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}/`;
  });
  afterAll(() => {
    proxy.closeAllConnections();
    proxy.close();
  });

  it('works behind a sub-path: links, reload, live log, actions, files, login', { timeout: LONG }, async () => {
    const name = `behind a proxy ${Date.now()}`;
    const made = await web.bench.add('file', null, { name: 'with a file' });
    const slow = await web.bench.add('slow', null, { name });
    await web.bench.until(made, 'done');
    const { page, pageErrors } = await web.open(outside);
    const requests: string[] = [];
    page.on('request', (each) => requests.push(each.url()));
    await page.getByRole('link', { name }).click();
    await page.waitForURL(`${outside}q/slow/${slow}`);
    await page.reload();
    await page.getByRole('region', { name: 'Lines of the log' }).getByText('begun').waitFor();
    await page.getByRole('button', { name: 'Cancel job …' }).click();
    await page.getByRole('button', { name: 'Cancel job', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).getByText('cancelled', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Queues' }).first().click();
    await page.waitForURL(`${outside}queues`);
    await page.goto(`${outside}q/file/${made}`);
    const link = page.getByRole('link', { name: 'made.txt' });
    await link.waitFor();
    const href = (await link.getAttribute('href')) ?? '';
    expect(await (await fetch(new URL(href, page.url()))).text()).toBe('made\n');
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'API' }).click();
    await page.getByRole('link', { name: /openapi/ }).waitFor();
    await logIn(page, await web.token('read'), outside);
    expect(requests.filter((url) => !url.startsWith(outside))).toEqual([]);
    expect(pageErrors).toEqual([]);
  });

  it('follows a forwarded job: its state, progress and log on the other node', {
    timeout: LONG,
  }, async () => {
    // Over the network to the same node, as to any other node.
    const body = { queue: new URL('q/far', web.url).href, forceRemote: true, name: 'sent away' };
    const { id } = await web.post<{ id: string }>('/api/jobs', body);
    const { page, pageErrors } = await web.open(`/q/relay/${id}`);
    const there = page.getByRole('region', { name: 'On the other node' });
    await there.getByText('running', { exact: true }).waitFor();
    await there.getByText('half the way').waitFor();
    await there.getByRole('region', { name: 'End of the remote log' }).getByText('told from afar').waitFor();
    await there.getByRole('link', { name: new URL('q/far/', web.url).href }).click();
    await page.getByRole('heading', { level: 1 }).getByText('sent away').waitFor();
    await page.getByRole('button', { name: 'Cancel job …' }).click();
    await page.getByRole('button', { name: 'Cancel job', exact: true }).click();
    await page.goBack();
    await there.getByText('cancelled', { exact: true }).first().waitFor();
    expect(pageErrors).toEqual([]);
  });

  it.runIf(hasRedis)(
    'shows the nodes of a shared store: drains and resumes one, shows what a gone node stored, forgets it',
    { timeout: 2 * LONG },
    async () => {
      const [near, far] = await twoNodes();
      await near.post('/api/jobs', { id: 'told', queue: 'far', data: {} });
      await eventually(
        () => near.get('/api/jobs/told'),
        ({ text }) => text.includes('"state":"done"'),
      );
      const { page, pageErrors } = await web.openAsAdmin({}, { home: near.bench.home, url: near.url });
      const row = page.getByRole('table', { name: 'Nodes' }).getByRole('row', { name: /^far-node / });
      const [dialog, attempts] = [page.getByRole('dialog'), page.getByRole('table', { name: 'Attempts' })];
      await page.goto(new URL('/workers', near.url).href);
      await row.getByRole('button', { name: 'Drain …' }).click();
      await dialog.getByText('starts no more jobs').waitFor();
      await dialog.getByRole('button', { name: 'Drain' }).click();
      await row.getByText('draining', { exact: true }).waitFor();
      await row.getByRole('button', { name: 'Resume' }).click();
      await row.getByText('up', { exact: true }).waitFor();
      await far.stop();
      await row.getByText('stopped', { exact: true }).waitFor();
      await page.goto(new URL('/q/far/told', near.url).href);
      await attempts.getByText(/stored on node far-node, gone since/).waitFor();
      await page.goto(new URL('/workers', near.url).href);
      await row.getByRole('button', { name: 'Forget …' }).click();
      await dialog.getByText('count as lost').waitFor();
      await dialog.getByRole('button', { name: 'Forget' }).click();
      await row.waitFor({ state: 'detached' });
      await page.goto(new URL('/q/far/told', near.url).href);
      await attempts.getByText('stored on a node that was removed').waitFor();
      expect(pageErrors).toEqual([]);
    },
  );

  it('offers no action to a user with the role read', { timeout: LONG }, async () => {
    const failed = await web.bench.add('broken', null, { name: 'not yours' });
    await web.bench.until(failed, 'failed');
    const { page, pageErrors } = await web.open('/login');
    await logIn(page, await web.token('read'), web.url);
    await page.getByRole('link', { name: 'read only' }).waitFor();
    const pages = {
      [`/q/broken/${failed}`]: 'not yours',
      '/q/broken': 'not yours',
      '/failures': 'exit',
      '/queues': 'slow',
    };
    for (const [path, words] of Object.entries(pages)) {
      await page.goto(new URL(path, web.url).href);
      await page.getByRole('link', { name: 'read only' }).waitFor();
      await page.locator('main').getByText(words).first().waitFor();
      const offered = /Retry|Cancel|Delete|Duplicate|New|Pause|Select all|Settings …/;
      expect(await page.locator('main').getByRole('button', { name: offered }).count()).toBe(0);
    }
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByText(/with the role read/).waitFor();
    expect(pageErrors).toEqual([]);
  });

  it('sends no request while the tab is hidden, and catches up when it is visible', { timeout: LONG }, async () => {
    const hidden = await web.open('/queues');
    const seen = await web.open('/queues');
    await hidden.page.getByRole('link', { name: 'slow' }).waitFor();
    await hide(hidden.page, true);
    const requests: string[] = [];
    hidden.page.on('request', (each) => requests.push(each.url()));
    const queue = `unseen-${Date.now()}`;
    await web.post('/api/jobs', { queue, delay: '1h' });
    await seen.page.getByRole('link', { name: queue }).waitFor();
    expect({ requests, rows: await hidden.page.getByRole('link', { name: queue }).count() }).toEqual({
      requests: [],
      rows: 0,
    });
    await hide(hidden.page, false);
    await hidden.page.getByRole('link', { name: queue }).waitFor();
    expect([...hidden.pageErrors, ...seen.pageErrors]).toEqual([]);
  });
});

/** Two nodes on one Redis; the second does not copy its files. */
async function twoNodes(): Promise<readonly [NodeBench, NodeBench]> {
  const redis = await startRedis();
  const [near, far] = [new NodeBench('near-node', redis.url), new NodeBench('far-node', redis.url, { copyUpTo: 0 })];
  onTestFinished(async () => {
    for (const { bench } of [near, far]) await bench.close();
    await redis.stop();
  });
  far.bench.queue('far', 'echo "told from afar"');
  await Promise.all([near.start(), far.start()]);
  return [near, far];
}

/** Simulates a hidden tab: a headless browser reports every tab as visible. */
async function hide(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} });
    document.dispatchEvent(new Event('visibilitychange'));`,
  );
}
