/**
 * BullMQ as its documentation recommends: one Queue to add, one Worker to process, done jobs kept.
 * Automatic pipelining of its Redis client stays off: a trial showed that it costs BullMQ a third of its rates.
 *
 * Every contender implements the same session, so that one driver (../drive.mjs) measures them all without knowing which
 * one it drives.
 */
import { Queue, Worker } from 'bullmq';
import { countdown } from '../frame/countdown.mjs';

/** The options of each kind of job that BullMQ has. */
const OPTIONS = {
  plain: () => ({}),
  priority: ({ n }) => ({ priority: 1 + (n % 10) }),
  delay: () => ({ delay: 1 }),
  failing: () => ({ attempts: 2 }),
};

export async function open({ port }) {
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const queues = new Map();
  const queue = (name) => {
    if (!queues.has(name)) queues.set(name, new Queue(name, { connection }));
    return queues.get(name);
  };
  return {
    ready: (name) => queue(name).waitUntilReady(),
    add: (name, data) => queue(name).add('job', data),
    addBulk: (name, list, kind = 'plain') =>
      queue(name).addBulk(list.map((data) => ({ name: 'job', data, opts: OPTIONS[kind](data) }))),
    work: (name, handler, options) => work({ name, handler, connection, ...options }),
    countDone: async (name) => (await queue(name).getJobCounts('completed')).completed,
    close: async () => {
      for (const each of queues.values()) await each.close();
    },
  };
}

async function work({ name, handler, connection, concurrency, onSettled }) {
  const settled = countdown(onSettled);
  const worker = new Worker(name, (job) => handler(job.data, job.attemptsMade + 1), {
    connection,
    concurrency,
    autorun: false,
  });
  worker.on('completed', settled.count);
  worker.on('error', settled.fail);
  worker.on('failed', (job, error) => (job?.attemptsMade < job?.opts.attempts ? undefined : settled.fail(error)));
  await worker.waitUntilReady();
  return {
    start: () => void worker.run().catch(settled.fail),
    settled: settled.reached,
    stop: () => worker.close(),
  };
}
