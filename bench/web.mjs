/**
 * `npm run bench -- web`: the web UI in a real Chromium, on a node with 1,000,000 ended jobs, 50 running ones and a log of
 * 1 GB. Measures the time to first content of each page, jumps and frame times in the log, and the memory of an open tab.
 *
 *   --quick   50,000 jobs and a log of 50 MB
 *   --jobs N  number of ended jobs
 *   --log N   size of the log in MB
 *   --json    print only the figures as JSON to stdout
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../dist/library/index.js';
import { launchBrowser } from '../scripts/browser.mjs';
import { makeHome, startNode } from '../scripts/served-node.mjs';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { firstContent, memoryOf, openPage, untilVisible, wheelFrames } from './web/page-timing.mjs';
import { endJobs, makeQueues } from './web/seed.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    jobs: { type: 'string' },
    log: { type: 'string' },
  },
  numbers: ['jobs', 'log'],
});
const print = values.json ? console.error : console.log;
const jobs = Number(values.jobs ?? (values.quick ? 50_000 : 1_000_000));
const logMB = Number(values.log ?? (values.quick ? 50 : 1_024));
const runningJobs = 50;
const times = values.quick ? 3 : 5;
const watchedSeconds = values.quick ? 10 : 60;
/** A frame at 60 Hz takes 16.7 ms; a delay of one frame still looks smooth. */
const targets = { contentMs: 1_000, frameP95Ms: 34, heapMB: 100, growthMB: 10 };

async function main() {
  const isProvisional = await isBusy();
  const home = makeHome('bench-web');
  makeQueues(home, { logBytes: logMB * 2 ** 20, runningJobs });
  const startedAt = Date.now();
  const longhaul = await connect(home);
  const ended = await endJobs(longhaul, jobs, print);
  await longhaul.close();
  print(`${jobs.toLocaleString('en')} jobs have ended, after ${Math.round((Date.now() - startedAt) / 1_000)} s`);
  const node = await startNode(home);
  try {
    const log = await startJobs(node);
    printFigures({ isProvisional, ...(await measurePages(node, { ...ended, log })) });
  } finally {
    await call(node, 'POST', 'api/jobs/cancel', { query: { state: 'running' } });
    await until(async () => (await call(node, 'GET', 'api/overview')).running === 0);
    await node.stop();
  }
}

/** Starts running jobs, and one with a large log; returns its id. */
async function startJobs(node) {
  for (let n = 0; n < runningJobs; n += 1)
    await call(node, 'POST', 'api/jobs', { queue: 'long', name: `long job ${n}` });
  const { id } = await call(node, 'POST', 'api/jobs', { queue: 'talker', name: 'talker' });
  await until(async () => (await call(node, 'GET', `api/jobs/${id}`)).state === 'done');
  await until(async () => (await call(node, 'GET', 'api/overview')).running === runningJobs);
  print(`${runningJobs} jobs run, and a log of ${logMB} MB is there`);
  return id;
}

async function measurePages(node, { done, failed, log }) {
  const browser = await launchBrowser();
  try {
    const pages = {
      '': 'all is well',
      queues: 'history',
      'q/history': 'completed',
      'q/history?state=failed': 'bad checksum',
      'q/history?name=transcode': 'completed',
      [`q/history/${done}`]: 'film',
      [`q/history/${failed}`]: 'film',
      failures: 'bad checksum',
      workers: 'Load',
      'search?for=transcode': 'completed',
      settings: 'You are',
      [`q/talker/${log}`]: 'the end of the log',
    };
    const content = {};
    for (const [path, text] of Object.entries(pages)) {
      content[path] = await firstContent(browser, { url: new URL(path, node.url).href, text, times });
      print(`/${path}: ${content[path].median} ms to first content, ${content[path].most} ms max`);
    }
    return {
      content,
      log: await measureLog(browser, new URL(`q/talker/${log}`, node.url).href),
      home: await measureMemory(browser, node.url),
    };
  } finally {
    await browser.close();
  }
}

async function measureLog(browser, url) {
  const { page, close } = await openPage(browser, url);
  await untilVisible(page, 'the end of the log');
  const lines = page.getByRole('region', { name: 'Lines of the log' });
  await lines.hover();
  const slow = await wheelFrames(page, { seconds: 4, delta: -60 });
  const fast = await wheelFrames(page, { seconds: 4, delta: -2_000 });
  const jumps = [];
  for (const share of [0.5, 0.1, 0.9, 0.33, 0.77, 0]) jumps.push(await jump(lines, share));
  const memory = await memoryOf(page);
  await close();
  return { slow, fast, jumpMostMs: Math.round(Math.max(...jumps)), ...memory };
}

/** Scrolls to a share of the log; returns the milliseconds until its lines are visible. */
function jump(lines, share) {
  return lines.evaluate(async (element, part) => {
    const startedAt = performance.now();
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    element.scrollTop = (element.scrollHeight - element.clientHeight) * part;
    await nextFrame();
    await nextFrame();
    const isVisible = () =>
      [...element.querySelectorAll('[data-line]')].every((row) => row.textContent.includes('frame encoded'));
    while (!isVisible()) await nextFrame();
    return performance.now() - startedAt;
  }, share);
}

/** Leaves the home page open; returns the memory of the tab and its growth. */
async function measureMemory(browser, url) {
  const { page, close } = await openPage(browser, url);
  await untilVisible(page, 'all is well');
  await sleep(5_000);
  const before = await memoryOf(page);
  await sleep(watchedSeconds * 1_000);
  const after = await memoryOf(page);
  await close();
  return { ...after, growthMB: Number((after.heapMB - before.heapMB).toFixed(1)), seconds: watchedSeconds };
}

async function call({ url }, method, path, body) {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

async function until(condition) {
  for (let waited = 0; !(await condition()); waited += 1) {
    if (waited > 600) throw new Error('the condition was not met within two minutes');
    await sleep(200);
  }
}

function printFigures(figures) {
  const { content, log, home, isProvisional } = figures;
  const slowest = Math.max(...Object.values(content).map(({ median }) => median));
  const isReached =
    slowest < targets.contentMs &&
    log.jumpMostMs < targets.contentMs &&
    Math.max(log.slow.p95, log.fast.p95) <= targets.frameP95Ms &&
    Math.max(log.heapMB, home.heapMB) < targets.heapMB &&
    home.growthMB < targets.growthMB;
  if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  const frames = ({ p50, p95, most }) => `p50 ${p50} ms, p95 ${p95} ms, max ${most} ms`;
  print(`first content, slowest page: ${slowest} ms`);
  print(
    `log of ${logMB} MB: a jump takes ${log.jumpMostMs} ms at most; frames at slow scrolling ${frames(log.slow)}; at fast scrolling ${frames(log.fast)}`,
  );
  print(
    `heap: ${log.heapMB} MB after the log (${log.nodes} nodes), ${home.heapMB} MB on the home page after ${home.seconds} s, ${home.growthMB} MB growth`,
  );
  print(
    `content and jumps < ${targets.contentMs} ms, p95 of frames ≤ ${targets.frameP95Ms} ms, heap < ${targets.heapMB} MB, growth < ${targets.growthMB} MB: ${isReached ? 'reached' : 'MISSED'}`,
  );
  if (values.json) process.stdout.write(`${JSON.stringify({ ...figures, isReached }, null, 2)}\n`);
}

await main();
