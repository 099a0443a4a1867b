/**
 * `npm run screenshots [-- home queue …]`: the pictures of docs/images, made of a node with jobs in it by a real browser, in
 * both themes. `--out folder` puts them elsewhere, `--hurry` does not wait for curves to have points. Run it whenever the page looks different: the documents show them.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from './browser.mjs';
import { addJobs, isSettled, makeQueues } from './screenshots/seed.mjs';
import { smallPng } from './screenshots/small-png.mjs';
import { main, root, say, Trouble } from './script-support.mjs';
import { makeHome, startNode } from './served-node.mjs';
import { setUp } from './setup.mjs';
import { readOptions } from './usage.mjs';

const THEMES = ['light', 'dark'];
const SIZE = { width: 1200, height: 750 };
/** Where each is, and words that are there once it is whole. */
const PAGES = {
  home: () => ['', 'scene'],
  queue: () => ['q/thumbnails', 'completed'],
  job: ({ film }) => [`q/transcode/${film}`, 'frame'],
  failures: () => ['failures', 'connection refused'],
};
/** Until curves have some points. */
const curvesMs = 12_000;
const waitMs = 60_000;
const options = { out: { type: 'string' }, hurry: { type: 'boolean', default: false } };

await main(import.meta.url, async (args) => {
  const { values, positionals } = readOptions(import.meta.url, { args, options, allowPositionals: true });
  const names = positionals.length === 0 ? Object.keys(PAGES) : positionals;
  const unknown = names.filter((name) => !(name in PAGES));
  if (unknown.length > 0)
    throw new Trouble(`There is no picture ${unknown.join(', ')}; there are ${Object.keys(PAGES).join(', ')}.`, {
      exitCode: 2,
    });
  await setUp();
  const folder = values.out === undefined ? join(root, 'docs/images') : resolve(values.out);
  mkdirSync(folder, { recursive: true });
  await withNode(values, async (node, jobs) => {
    const browser = await launchBrowser();
    try {
      for (const name of names) await takeBoth(browser, { name, folder, node, jobs });
    } finally {
      await browser.close();
    }
  });
});

async function withNode({ hurry }, work) {
  const home = makeHome('screenshots');
  makeQueues(home);
  const node = await startNode(home);
  const call = (method, path, body) => ask(node, { method, path, body });
  try {
    const jobs = await addJobs(call);
    await until(async () => isSettled(await call('GET', 'api/overview')));
    if (!hurry) await sleep(curvesMs);
    await work(node, jobs);
  } finally {
    for (const state of ['waiting', 'running']) await call('POST', 'api/jobs/cancel', { query: { state } });
    await until(async () => (await call('GET', 'api/overview')).running === 0);
    await node.stop();
  }
}

async function takeBoth(browser, { name, folder, node, jobs }) {
  const [path, words] = PAGES[name](jobs);
  for (const colorScheme of THEMES) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme });
    const page = await context.newPage();
    await page.goto(new URL(path, node.url).href);
    await page.locator('main').getByText(words).first().waitFor();
    // Figures, plots and fonts come in after the first words.
    await page.waitForLoadState('networkidle').catch(() => undefined);
    const picture = smallPng(await page.screenshot());
    const file = join(folder, `${name}-${colorScheme}.png`);
    writeFileSync(file, picture);
    say(`${file}: ${Math.round(picture.length / 1_024)} KB`);
    await context.close();
  }
}

async function ask({ url }, { method, path, body }) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function until(isSo) {
  for (const end = Date.now() + waitMs; !(await isSo()); await sleep(200))
    if (Date.now() > end) throw new Trouble('The node with the jobs did not come to rest in time.');
}
