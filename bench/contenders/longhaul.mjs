/**
 * Longhaul through its library with its defaults: history, statistics, leases and heartbeats on, done jobs kept.
 *
 * Not a contender itself: longhaul-redis.mjs and longhaul-sqlite.mjs open it on their store.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { countdown } from '../frame/countdown.mjs';

/** The options of each kind of job. */
const OPTIONS = {
  plain: {},
  priority: ({ n }) => ({ priority: 1 + (n % 10) }),
  tag: { tags: ['report'] },
  delay: { delay: '1ms' },
  failing: { retries: 1, backoff: '0s' },
  throttle: { throttles: ['bench'] },
};

const thisBuild = join(import.meta.dirname, '..', '..');

/** Opens a store with this build, or with the build in another clone. */
export async function openAt(address, build = thisBuild) {
  const { connect } = await import(pathToFileURL(join(build, 'dist', 'library', 'index.js')).href);
  const longhaul = await connect(address);
  const queues = new Map();
  const queue = (name) => {
    if (!queues.has(name)) queues.set(name, longhaul.queue(name));
    return queues.get(name);
  };
  return {
    /** For the measurements of Longhaul alone: ../scale.mjs. */
    longhaul,
    ready: async () => {},
    add: (name, data) => queue(name).add(data),
    addBulk: async (name, list, kind = 'plain') => {
      if (kind === 'throttle') await longhaul.setThrottle('bench', 1_000);
      return queue(name).addAll(list, OPTIONS[kind]);
    },
    work: (name, handler, options) => work({ queue: queue(name), handler, ...options }),
    countDone: async (name) => (await queue(name).count()).done,
    close: () => longhaul.close(),
  };
}

/**
 * A job counts as settled when the store has confirmed it. The worker is ready before the measurement starts, like those
 * of the peers, and claims nothing until then.
 */
async function work({ queue, handler, concurrency, onSettled }) {
  const settled = countdown(onSettled);
  const onEvent = (event) => {
    if (event.type === 'ended' && event.answer?.ok && event.answer.state === 'done') settled.count();
    else if (event.type === 'ended' && event.answer?.ok && event.answer.state === 'waiting') return;
    else if (event.type === 'ended') settled.fail(new Error(`a job was not settled: ${JSON.stringify(event.answer)}`));
    else if (event.type === 'trouble') settled.fail(event.error);
  };
  const running = queue.work((job) => handler(job.data, job.attempt), { concurrency, onEvent });
  running.pause();
  await running.ready;
  return {
    start: () => running.resume(),
    settled: settled.reached,
    stop: () => running.stop(),
  };
}
