/**
 * `npm run bench -- web`: the page in a real Chromium, on a node with 1,000,000 ended jobs, 50 that run and a log of 1 GB.
 * How long each page takes to its first content, how long the log takes to open and to jump, the frames of scrolling
 * in it, and the memory of a tab that stays open.
 *
 *   --quick   50,000 jobs and 50 MB      --jobs N  --log N   other numbers of jobs, of megabytes
 *   --json    the figures on stdout and nothing else there
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../dist/library/index.js';
import { launchBrowser } from '../scripts/browser.mjs';
import { makeHome, startNode } from '../scripts/served-node.mjs';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { firstContent, memoryOf, openPage, untilSeen, wheelFrames } from './web/look.mjs';
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
const say = values.json ? console.error : console.log;
const jobs = Number(values.jobs ?? (values.quick ? 50_000 : 1_000_000));
const logMB = Number(values.log ?? (values.quick ? 50 : 1_024));
const runningJobs = 50;
const times = values.quick ? 3 : 5;
const watchedSeconds = values.quick ? 10 : 60;
/** A frame of 60 a second has 16.7 ms; one that comes a frame late is still smooth to the eye. */
const reaches = { contentMs: 1_000, frameP95Ms: 34, heapMB: 100, growthMB: 10 };

async function main() {
  const isProvisional = await isBusy();
  const home = makeHome('bench-web');
  makeQueues(home, { logBytes: logMB * 2 ** 20, runningJobs });
  const startedAt = Date.now();
  const longhaul = await connect(home);
  const ended = await endJobs(longhaul, jobs, say);
  await longhaul.close();
  say(`${jobs.toLocaleString('en')} jobs have ended, after ${Math.round((Date.now() - startedAt) / 1_000)} s`);
  const node = await startNode(home);
  try {
    const log = await fill(node);
    tell({ isProvisional, ...(await look(node, { ...ended, log })) });
  } finally {
    await call(node, 'POST', 'api/jobs/cancel', { query: { state: 'running' } });
    await until(async () => (await call(node, 'GET', 'api/overview')).running === 0);
    await node.stop();
  }
}

/** Jobs that run, and one that has said very much; answers its id. */
async function fill(node) {
  for (let n = 0; n < runningJobs; n += 1)
    await call(node, 'POST', 'api/jobs', { queue: 'long', name: `long job ${n}` });
  const { id } = await call(node, 'POST', 'api/jobs', { queue: 'talker', name: 'talker' });
  await until(async () => (await call(node, 'GET', `api/jobs/${id}`)).state === 'done');
  await until(async () => (await call(node, 'GET', 'api/overview')).running === runningJobs);
  say(`${runningJobs} jobs run, and a log of ${logMB} MB is there`);
  return id;
}

async function look(node, { done, failed, log }) {
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
    for (const [path, words] of Object.entries(pages)) {
      content[path] = await firstContent(browser, { url: new URL(path, node.url).href, words, times });
      say(`/${path}: ${content[path].median} ms to its content, ${content[path].most} ms at most`);
    }
    return {
      content,
      log: await lookAtLog(browser, new URL(`q/talker/${log}`, node.url).href),
      home: await stay(browser, node.url),
    };
  } finally {
    await browser.close();
  }
}

async function lookAtLog(browser, url) {
  const { page, close } = await openPage(browser, url);
  await untilSeen(page, 'the end of the log');
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

/** By the scroll bar to that share of the log; milliseconds until its lines are there. */
function jump(lines, share) {
  return lines.evaluate(async (element, part) => {
    const startedAt = performance.now();
    const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    element.scrollTop = (element.scrollHeight - element.clientHeight) * part;
    await nextFrame();
    await nextFrame();
    const isThere = () =>
      [...element.querySelectorAll('[data-line]')].every((row) => row.textContent.includes('frame encoded'));
    while (!isThere()) await nextFrame();
    return performance.now() - startedAt;
  }, share);
}

/** The board of what runs, left open: what the tab holds then, and how much more than at first. */
async function stay(browser, url) {
  const { page, close } = await openPage(browser, url);
  await untilSeen(page, 'all is well');
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

async function until(isSo) {
  for (let waited = 0; !(await isSo()); waited += 1) {
    if (waited > 600) throw new Error('waited for two minutes in vain');
    await sleep(200);
  }
}

function tell(figures) {
  const { content, log, home, isProvisional } = figures;
  const slowest = Math.max(...Object.values(content).map(({ median }) => median));
  const isReached =
    slowest < reaches.contentMs &&
    log.jumpMostMs < reaches.contentMs &&
    Math.max(log.slow.p95, log.fast.p95) <= reaches.frameP95Ms &&
    Math.max(log.heapMB, home.heapMB) < reaches.heapMB &&
    home.growthMB < reaches.growthMB;
  if (isProvisional) say('PROVISIONAL: something else was running on this machine.');
  const frames = ({ p50, p95, most }) => `p50 ${p50} ms, p95 ${p95} ms, most ${most} ms`;
  say(`first content, slowest page: ${slowest} ms`);
  say(
    `log of ${logMB} MB: a jump takes ${log.jumpMostMs} ms at most; frames by the wheel ${frames(log.slow)}; very fast ${frames(log.fast)}`,
  );
  say(
    `heap: ${log.heapMB} MB after the log (${log.nodes} nodes), ${home.heapMB} MB on the home page after ${home.seconds} s, ${home.growthMB} MB more than at first`,
  );
  say(
    `content and jumps < ${reaches.contentMs} ms, p95 of frames ≤ ${reaches.frameP95Ms} ms, heap < ${reaches.heapMB} MB, growth < ${reaches.growthMB} MB: ${isReached ? 'reached' : 'MISSED'}`,
  );
  if (values.json) process.stdout.write(`${JSON.stringify({ ...figures, isReached }, null, 2)}\n`);
}

await main();
