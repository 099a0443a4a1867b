/**
 * Graphile Worker on PostgreSQL: with its defaults, or with the settings that its documentation recommends for speed
 * (`isLocal`): a local queue of 500 jobs that are claimed ahead, and completions in groups.
 *
 * It deletes done jobs. Its events come before a job is settled, so the clock stops when the store has no job left.
 */
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import pg from 'pg';
import { countdown } from '../frame/countdown.mjs';

/** The options of each kind of job that Graphile Worker has. Its backoff cannot be shorter than 2.7 s. */
const OPTIONS = {
  plain: () => ({}),
  priority: ({ n }) => ({ priority: 1 + (n % 10) }),
  delay: () => ({ runAt: new Date(Date.now() + 1) }),
};
const logger = new Logger(() => () => {});
const connections = 20;
const emptyMs = 2;
const fast = { localQueue: { size: 500 }, completeJobBatchDelay: 0, failJobBatchDelay: 0 };

export async function open({ url, isLocal = false }) {
  const pgPool = new pg.Pool({ connectionString: url, max: connections });
  // It asks for both: a connection that is lost is replaced.
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  const utils = await makeWorkerUtils({ pgPool, logger });
  await utils.migrate();
  await warmUp(pgPool);
  const handled = new Map();
  const remaining = async (name) => {
    const text = 'select count(*)::int as jobs from graphile_worker.jobs where task_identifier = $1';
    return (await pgPool.query(text, [name])).rows[0].jobs;
  };
  return {
    /** No record of a done job: `countDone` is 0 when no job is left. */
    deletesDone: true,
    ready: async () => {},
    add: (name, data) => utils.addJob(name, data),
    addBulk: (name, list, kind = 'plain') =>
      utils.addJobs(list.map((payload) => ({ identifier: name, payload, ...OPTIONS[kind](payload) }))),
    filled: () => pgPool.query('vacuum analyze'),
    work: async (name, handler, { concurrency, onSettled }) => {
      const count = () => handled.set(name, (handled.get(name) ?? 0) + 1);
      const preset = isLocal ? { worker: fast } : {};
      return work({ name, handler, count, onSettled, remaining, options: { pgPool, logger, preset, concurrency } });
    },
    countDone: async (name) => (handled.get(name) ?? 0) - (await remaining(name)),
    close: async () => {
      await utils.release();
      await pgPool.end();
    },
  };
}

/** Opens all connections, as the other contenders have theirs before the time starts. */
async function warmUp(pool) {
  const clients = await Promise.all(Array.from({ length: connections }, () => pool.connect()));
  for (const client of clients) client.release();
}

function work({ name, handler, count, onSettled, remaining, options }) {
  const settled = countdown(onSettled);
  const task = async (payload, { job }) => {
    await handler(payload, job.attempts);
    count();
    settled.count();
  };
  const drained = async () => {
    while ((await remaining(name)) > 0) await new Promise((resolve) => setTimeout(resolve, emptyMs));
  };
  let running = Promise.resolve();
  return {
    start: () => {
      running = run({ ...options, taskList: { [name]: task }, noHandleSignals: true, pollInterval: 1_000 });
      // A runner that cannot go on rejects its promise.
      running.then((runner) => runner.promise).catch(settled.fail);
    },
    settled: async (wanted) => {
      await settled.reached(wanted);
      await drained();
    },
    drained,
    stop: async () => (await running).stop(),
  };
}
