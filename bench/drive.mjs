/**
 * The driver: the actions on a contender's session and their timing, the same for all contenders.
 *
 * It never knows which contender it drives. A measurement ends when the last job is *settled* in the store, as far as the
 * contender can tell. A run in which a job was not handled exactly once is void.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivals } from './frame/arrivals.mjs';
import { exactly } from './frame/exactly.mjs';

const bulkSize = 1_000;
/** The uncounted jobs before a measurement: 1,000, and fewer with small sizes. */
const warmUpJobs = (count) => Math.min(1_000, Math.ceil(count / 4));
/** Those before a pick-up measurement: 1,000 as well, although it counts few jobs. */
const warmUpPickUps = (count) => Math.min(1_000, 2 * count);
const warmUpQueue = 'warm';
const queue = 'bench';
const progressMs = 5;

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const jobData = (n) => ({ n, to: 'someone@example.org', subject: 'Your report is ready' });
const rate = (count, startedAt) => count / ((nowMs() - startedAt) / 1_000);

/** Measures jobs a second with `inFlight` callers that each add one job after another. */
export async function add(session, { count, inFlight }) {
  await addOneByOne(session, { name: warmUpQueue, count: warmUpJobs(count), inFlight });
  await session.ready(queue);
  const startedAt = nowMs();
  await addOneByOne(session, { name: queue, count, inFlight });
  return { rate: rate(count, startedAt) };
}

async function addOneByOne(session, { name, count, inFlight }) {
  let next = 0;
  const addNext = async () => {
    while (next < count) await session.add(name, jobData(next++));
  };
  await Promise.all(Array.from({ length: inFlight }, addNext));
}

/** Measures jobs a second with one caller that adds a thousand at a time. */
export async function addBulk(session, { count }) {
  await addInBulk(session, { name: warmUpQueue, count: warmUpJobs(count) });
  await session.ready(queue);
  const startedAt = nowMs();
  await addInBulk(session, { name: queue, count });
  return { rate: rate(count, startedAt) };
}

async function addInBulk(session, { name, count, kind = 'plain' }) {
  for (let first = 0; first < count; first += bulkSize) {
    const length = Math.min(bulkSize, count - first);
    await session.addBulk(
      name,
      Array.from({ length }, (_, index) => jobData(first + index)),
      kind,
    );
  }
}

/** Adds the jobs that another process runs, or whose bytes are counted. `kind` names their option (contenders/). */
export async function fill(session, { count, kind }) {
  await addInBulk(session, { name: queue, count, kind });
  await session.filled?.();
  return {};
}

/** Measures jobs a second of one worker with `count` waiting jobs; each must be handled exactly once. */
export async function work(session, { count, concurrency, kind = 'plain' }) {
  const warmUp = { name: warmUpQueue, count: warmUpJobs(count), concurrency };
  await addInBulk(session, warmUp);
  await workOff(session, warmUp);
  return { rate: await workOff(session, { name: queue, count, concurrency, kind }) };
}

async function workOff(session, { name, count, concurrency, kind }) {
  const handled = exactly(count);
  const handler = async (data, attempt) => {
    if (kind === 'failing' && attempt === 1) throw new Error('the first attempt fails');
    handled.saw(data.n);
  };
  const worker = await session.work(name, handler, { concurrency });
  const startedAt = nowMs();
  worker.start();
  await worker.settled(count);
  const result = rate(count, startedAt);
  await worker.stop();
  handled.check();
  const done = await session.countDone(name);
  if (done !== count) throw new Error(`${count} jobs were handled, but ${done} are done in the store`);
  return result;
}

/**
 * One of several worker processes of a queue. It starts at the step 'go' and reports how many jobs it settled; at the step
 * 'finish' it stops. Returns which jobs it handled and when it settled the last one.
 */
export async function share(session, { index, count, concurrency, onReady, onProgress, step }) {
  const [handled, go, finish] = [[], step('go'), step('finish')];
  const warmUp = { name: `${warmUpQueue}${index}`, count: warmUpJobs(count), concurrency };
  await addInBulk(session, warmUp);
  await workOff(session, warmUp);
  let [settled, reported, lastAtMs] = [0, 0, 0];
  const onSettled = () => ([settled, lastAtMs] = [settled + 1, nowMs()]);
  const worker = await session.work(queue, async ({ n }) => void handled.push(n), { concurrency, onSettled });
  const timer = setInterval(() => {
    if (settled > reported) onProgress((reported = settled));
  }, progressMs);
  onReady();
  await go;
  worker.start();
  await finish;
  clearInterval(timer);
  if (worker.drained) lastAtMs = await worker.drained().then(nowMs);
  await worker.stop();
  return { handled, lastAtMs };
}

/** Waits for the jobs of `send` in another process; returns the latencies from the call to the handler. */
export async function listen(session, { count, discard, onReady }) {
  await pickUpOneByOne(session, { name: `${warmUpQueue}Listener`, count: warmUpPickUps(count) });
  return measureLatencies(session, { count, discard, onReady });
}

async function measureLatencies(session, { count, discard, onReady }) {
  const [handled, latencies] = [exactly(count), []];
  const handler = async ({ n, sentAtMs }) => {
    if (n >= discard) latencies.push(nowMs() - sentAtMs);
    handled.saw(n);
  };
  const worker = await session.work(queue, handler, { concurrency: 10, isIdle: true });
  worker.start();
  onReady();
  await worker.settled(count);
  await worker.stop();
  handled.check();
  return percentiles(latencies);
}

/** Adds the jobs of `listen`. */
export async function send(session, { count, everyMs }) {
  // A process that only adds has no worker: these jobs stay.
  await addOneByOne(session, { name: `${warmUpQueue}Sender`, count: warmUpPickUps(count), inFlight: 1 });
  return sendOnTime(session, { count, everyMs });
}

/**
 * Adds jobs at fixed arrival times without waiting for replies (an open loop), so that a slow pick-up cannot delay the
 * arrivals that would have shown it. The arrival times are the same for all contenders.
 */
async function sendOnTime(session, { count, everyMs }) {
  await session.ready(queue);
  const added = [];
  const lateness = [];
  const startedAt = nowMs();
  for (const [n, dueMs] of arrivals(count, everyMs).entries()) {
    await sleep(Math.max(0, dueMs - (nowMs() - startedAt)));
    const sentAtMs = nowMs();
    lateness.push(sentAtMs - startedAt - dueMs);
    added.push(session.add(queue, { ...jobData(n), sentAtMs }));
  }
  await Promise.all(added);
  return { lateMs: percentiles(lateness).p99 };
}

/** Producer and worker in one process. */
export async function sendAndListen(session, { count, discard, everyMs }) {
  await pickUpOneByOne(session, { name: warmUpQueue, count: warmUpPickUps(count) });
  let onReady = () => {};
  const isReady = new Promise((resolve) => (onReady = resolve));
  const heard = measureLatencies(session, { count, discard, onReady });
  await Promise.race([isReady, heard]);
  const [answer, { lateMs }] = await Promise.all([heard, sendOnTime(session, { count, everyMs })]);
  return { ...answer, lateMs };
}

/** The jobs that warm up a process: each is added when the one before was handled, as on an idle system. */
async function pickUpOneByOne(session, { name, count }) {
  let wasHandled = () => {};
  const worker = await session.work(name, async () => wasHandled(), { concurrency: 10, isIdle: true });
  worker.start();
  for (let n = 0; n < count; n += 1) {
    const handled = new Promise((resolve) => (wasHandled = resolve));
    await session.add(name, { ...jobData(n), sentAtMs: nowMs() });
    await handled;
  }
  await worker.settled(count);
  await worker.stop();
}

function percentiles(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}
