/**
 * The one driver: what is done to a contender's session, the same for all, and how it is timed.
 *
 * It must never know which contender it drives. A time ends when the last job is *settled* in the store, as far as
 * the contender can tell, and a run whose jobs were not each handled once is void.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { arrivals } from './frame/arrivals.mjs';
import { exactly } from './frame/exactly.mjs';

const bulkSize = 1_000;
const warmUpJobs = 1_000;
const warmUpQueue = 'warm';
const queue = 'bench';

const nowMs = () => Number(process.hrtime.bigint()) / 1e6;
const jobData = (n) => ({ n, to: 'someone@example.org', subject: 'Your report is ready' });
const rate = (count, startedAt) => count / ((nowMs() - startedAt) / 1_000);

/** Jobs a second when `inFlight` callers each add one job after the other. */
export async function add(session, { count, inFlight }) {
  await addOneByOne(session, { name: warmUpQueue, count: warmUpJobs, inFlight });
  await session.ready(queue);
  const startedAt = nowMs();
  await addOneByOne(session, { name: queue, count, inFlight });
  return { rate: rate(count, startedAt) };
}

async function addOneByOne(session, { name, count, inFlight }) {
  let next = 0;
  const lane = async () => {
    while (next < count) await session.add(name, jobData(next++));
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

/** Jobs a second when one caller adds a thousand at a time. */
export async function addBulk(session, { count }) {
  await addInBulk(session, { name: warmUpQueue, count: warmUpJobs });
  await session.ready(queue);
  const startedAt = nowMs();
  await addInBulk(session, { name: queue, count });
  return { rate: rate(count, startedAt) };
}

async function addInBulk(session, { name, count }) {
  for (let first = 0; first < count; first += bulkSize) {
    const length = Math.min(bulkSize, count - first);
    await session.addBulk(
      name,
      Array.from({ length }, (_, index) => jobData(first + index)),
    );
  }
}

/** Makes the jobs that another process will work off, or whose bytes are counted. */
export async function fill(session, { count }) {
  await addInBulk(session, { name: queue, count });
  return {};
}

/** Jobs a second of one worker that finds `count` jobs waiting; each must be handled once. */
export async function work(session, { count, concurrency }) {
  await addInBulk(session, { name: warmUpQueue, count: warmUpJobs });
  await workOff(session, { name: warmUpQueue, count: warmUpJobs, concurrency });
  return { rate: await workOff(session, { name: queue, count, concurrency }) };
}

async function workOff(session, { name, count, concurrency }) {
  const handled = exactly(count);
  const worker = await session.work(name, async (data) => handled.saw(data.n), { concurrency });
  const startedAt = nowMs();
  worker.start();
  await worker.settled(count);
  const result = rate(count, startedAt);
  await worker.stop();
  handled.check();
  const done = await session.countDone(name);
  if (done !== count) throw new Error(`${count} jobs were handled, but the store says that ${done} are done`);
  return result;
}

/** Waits for the jobs of `send`, here or in another process; answers how long each took from the call to its handler. */
export async function listen(session, { count, discard, onReady }) {
  const [handled, latencies] = [exactly(count), []];
  const handler = async ({ n, sentAtMs }) => {
    if (n >= discard) latencies.push(nowMs() - sentAtMs);
    handled.saw(n);
  };
  const worker = await session.work(queue, handler, { concurrency: 10 });
  worker.start();
  onReady();
  await worker.settled(count);
  await worker.stop();
  handled.check();
  return percentiles(latencies);
}

/**
 * Adds jobs by a timetable that waits for no reply (an open loop), so that a slow pick-up cannot slow the arrivals
 * that would have shown it. The timetable is the same for all.
 */
export async function send(session, { count, everyMs }) {
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

/** Both ends in one process. */
export async function sendAndListen(session, { count, discard, everyMs }) {
  let onReady = () => {};
  const isReady = new Promise((resolve) => (onReady = resolve));
  const heard = listen(session, { count, discard, onReady });
  await Promise.race([isReady, heard]);
  const [answer, { lateMs }] = await Promise.all([heard, send(session, { count, everyMs })]);
  return { ...answer, lateMs };
}

function percentiles(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), max: sorted.at(-1) };
}
