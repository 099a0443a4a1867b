/**
 * `npm run screenshots [-- home queue …]`: takes the screenshots of docs/images from a node with jobs of hours and two
 * weeks of history, with a real browser, in both themes. `--out folder` writes elsewhere; `--hurry` does not wait for points in the charts. Run it after
 * every visible change of the web UI.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launchBrowser } from './browser.mjs';
import { addFilms, addJobs, filmsStarted, isSettled, makeQueues } from './screenshots/seed.mjs';
import { smallPng } from './screenshots/small-png.mjs';
import { main, print, root, UserError } from './script-support.mjs';
import { makeHome, startNode } from './served-node.mjs';
import { setUp } from './setup.mjs';
import { parseOptions } from './usage.mjs';

const THEMES = ['light', 'dark'];
const SIZE = { width: 1200, height: 750 };
/** The path of each page, and a text that appears when the page is complete. */
const PAGES = {
  home: () => ['', 'scene'],
  queue: () => ['q/thumbnails', 'completed'],
  job: ({ film }) => [`q/transcode/${film}`, 'frame'],
  failures: () => ['failures', 'connection refused'],
};
/** The time until the charts have some points. */
const chartsMs = 12_000;
const waitMs = 60_000;
/** How long the films have run. */
const filmsRunMs = 5.2 * 3_600_000;
const options = { out: { type: 'string' }, hurry: { type: 'boolean', default: false } };

await main(import.meta.url, async (args) => {
  const { values, positionals } = parseOptions(import.meta.url, { args, options, allowPositionals: true });
  const names = positionals.length === 0 ? Object.keys(PAGES) : positionals;
  const unknown = names.filter((name) => !(name in PAGES));
  if (unknown.length > 0)
    throw new UserError(`There is no page ${unknown.join(', ')}. Pages: ${Object.keys(PAGES).join(', ')}.`, {
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
  // dist/ exists only after the setup.
  await (await import('./screenshots/history.mjs')).addHistory(home);
  const jobs = await startFilms(home);
  const node = await startNode(home);
  const call = (method, path, body) => request(node, { method, path, body });
  try {
    await addJobs(call);
    await until(async () => isSettled(await call('GET', 'api/overview')));
    if (!hurry) await sleep(chartsMs);
    await work(node, jobs);
  } finally {
    for (const state of ['waiting', 'running']) await call('POST', 'api/jobs/cancel', { query: { state } });
    await until(async () => (await call('GET', 'api/overview')).running === 0);
    await node.stop();
  }
}

/** Starts the films with a node whose clock is hours slow. They outlive it, and the next node adopts them. */
async function startFilms(home) {
  const clock = join(root, 'scripts/screenshots/shift-clock.cjs');
  const node = await startNode(home, { NODE_OPTIONS: `--require ${clock}`, SCREENSHOTS_SHIFT_MS: String(filmsRunMs) });
  const call = (method, path, body) => request(node, { method, path, body });
  try {
    const jobs = await addFilms(call);
    await until(async () => filmsStarted(await call('GET', 'api/running')));
    return jobs;
  } finally {
    await node.end();
  }
}

async function takeBoth(browser, { name, folder, node, jobs }) {
  const [path, text] = PAGES[name](jobs);
  for (const colorScheme of THEMES) {
    const context = await browser.newContext({ viewport: SIZE, colorScheme });
    const page = await context.newPage();
    await page.goto(new URL(path, node.url).href);
    await page.locator('main').getByText(text).first().waitFor();
    // Figures, charts and fonts load after the first text.
    await page.waitForLoadState('networkidle').catch(() => undefined);
    const picture = smallPng(await page.screenshot());
    const file = join(folder, `${name}-${colorScheme}.png`);
    writeFileSync(file, picture);
    print(`${file}: ${Math.round(picture.length / 1_024)} KB`);
    await context.close();
  }
}

async function request({ url }, { method, path, body }) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function until(condition) {
  for (const end = Date.now() + waitMs; !(await condition()); await sleep(200))
    if (Date.now() > end) throw new UserError(`The sample jobs did not settle within ${waitMs / 1_000} s.`);
}
