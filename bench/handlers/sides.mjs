/**
 * The two sides of bench/handlers.mjs, opened in handlers/side-process.mjs: each adds jobs and runs them in processes of
 * their own, through the documented calls of its library with defaults.
 */
import { fileURLToPath } from 'node:url';
import { countdown } from '../frame/countdown.mjs';

const module = new URL('./double.mjs', import.meta.url);
const QUEUE = 'handlers';

export const sides = {
  /** Handlers in the event loop of the worker: what isolation is compared with. */
  'longhaul, not isolated': (place) => openLonghaul(place, async (job) => job.data.n * 2, {}),
  longhaul: (place) => openLonghaul(place, module, { isolate: 'process' }),
  bullmq: openBullmq,
};

async function openLonghaul({ port, concurrency }, handler, options) {
  const { connect } = await import('../../dist/library/index.js');
  const longhaul = await connect(`redis://127.0.0.1:${port}`);
  const queue = longhaul.queue(QUEUE);
  const settled = countdown();
  const onEvent = (event) => {
    if (event.type === 'trouble') settled.fail(event.error);
    if (event.type !== 'ended') return;
    if (event.answer?.ok && event.answer.state === 'done') settled.count();
    else settled.fail(new Error(`a job was not settled: ${JSON.stringify(event.answer)}`));
  };
  const work = queue.work(handler, { ...options, concurrency, onEvent });
  await work.ready;
  return {
    settled: settled.reached,
    addAll: (list) => queue.addAll(list),
    runOne: (n) => queue.run({ n }),
    close: () => longhaul.close(),
  };
}

async function openBullmq({ port, concurrency }) {
  const { Queue, QueueEvents, Worker } = await import('bullmq');
  const connection = { host: '127.0.0.1', port, maxRetriesPerRequest: null };
  const [queue, events] = [new Queue(QUEUE, { connection }), new QueueEvents(QUEUE, { connection })];
  const settled = countdown();
  const worker = new Worker(QUEUE, fileURLToPath(module), { connection, concurrency });
  worker.on('completed', settled.count);
  worker.on('failed', (_job, error) => settled.fail(error));
  worker.on('error', settled.fail);
  await Promise.all([worker.waitUntilReady(), events.waitUntilReady()]);
  return {
    settled: settled.reached,
    addAll: (list) => queue.addBulk(list.map((data) => ({ name: 'job', data }))),
    runOne: async (n) => (await queue.add('job', { n })).waitUntilFinished(events),
    close: async () => {
      await worker.close();
      await events.close();
      await queue.close();
    },
  };
}
