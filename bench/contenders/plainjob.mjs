/**
 * plainjob on SQLite: with its defaults (`synchronous = NORMAL`, no fsync at a commit), or with `synchronous = FULL`.
 *
 * Its calls are synchronous and its worker runs one job at a time, so a concurrency of 100 is one worker too: a trial with
 * a hundred workers in the process was not faster. Its log lines are dropped.
 */
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { better, defineQueue, defineWorker, JobStatus } from 'plainjob';
import { countdown } from '../frame/countdown.mjs';

const silent = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} };

export async function open({ folder, synchronous }) {
  const database = new Database(join(folder, 'plainjob.db'));
  const queue = defineQueue({ connection: better(database), logger: silent });
  // After defineQueue, which sets NORMAL itself.
  if (synchronous === 'FULL') database.pragma('synchronous = FULL');
  return {
    ready: async () => {},
    add: async (name, data) => queue.add(name, data),
    addBulk: async (name, list) => queue.addMany(name, list),
    work: async (name, handler, { onSettled }) => work({ name, handler, queue, onSettled }),
    countDone: async (name) => queue.countJobs({ type: name, status: JobStatus.Done }),
    close: async () => queue.close(),
  };
}

function work({ name, handler, queue, onSettled }) {
  const settled = countdown(onSettled);
  const worker = defineWorker(name, async (job) => handler(JSON.parse(job.data)), {
    queue,
    logger: silent,
    onCompleted: settled.count,
    onFailed: (_job, message) => settled.fail(new Error(message)),
  });
  return {
    start: () => void worker.start().catch(settled.fail),
    settled: settled.reached,
    stop: () => worker.stop(),
  };
}
