/**
 * bee-queue with the settings that its README recommends for speed: a producer that is not a worker, no events, and no
 * table of jobs in memory. Done jobs are kept, which is the default.
 */
import BeeQueue from 'bee-queue';
import { countdown } from '../frame/countdown.mjs';

const stallCheckMs = 5_000;
const lean = { getEvents: false, sendEvents: false, storeJobs: false };

export async function open({ port }) {
  const redis = { host: '127.0.0.1', port };
  const queues = new Map();
  const queue = (name) => {
    if (!queues.has(name)) queues.set(name, new BeeQueue(name, { redis, ...lean, isWorker: false }));
    return queues.get(name);
  };
  return {
    ready: (name) => queue(name).ready(),
    add: (name, data) => queue(name).createJob(data).save(),
    addBulk: (name, list) => saveAll(queue(name), list),
    work: (name, handler, options) => work({ name, handler, redis, ...options }),
    countDone: async (name) => (await queue(name).checkHealth()).succeeded,
    close: async () => {
      for (const each of queues.values()) await each.close();
    },
  };
}

async function saveAll(queue, list) {
  const errors = await queue.saveAll(list.map((data) => queue.createJob(data)));
  for (const error of errors.values()) throw error;
}

async function work({ name, handler, redis, concurrency, onSettled, isLong }) {
  const settled = countdown(onSettled);
  const queue = new BeeQueue(name, { redis, ...lean });
  queue.on('succeeded', settled.count);
  queue.on('error', settled.fail);
  queue.on('failed', (_job, error) => settled.fail(error));
  await queue.ready();
  // Its documentation leaves this check to the application.
  if (isLong) await queue.checkStalledJobs(stallCheckMs);
  return {
    start: () => queue.process(concurrency, async (job) => handler(job.data)),
    settled: settled.reached,
    stop: () => queue.close(),
  };
}
