/**
 * pg-boss on PostgreSQL: `send` and `insert` to add, `fetch` and `complete` of groups to process, done jobs kept.
 *
 * Its `work()` polls at most twice a second at a batch size of one and does not tell when a job is settled. So jobs that
 * wait are processed by a loop of `fetch` and `complete`, which its documentation describes (two loops with half the jobs
 * each were slower); `work()` with LISTEN/NOTIFY
 * serves an idle queue.
 */
import { PgBoss } from 'pg-boss';
import { countdown } from '../frame/countdown.mjs';

/** The options of each kind of job that pg-boss has. */
const OPTIONS = {
  plain: () => ({}),
  priority: ({ n }) => ({ priority: 1 + (n % 10) }),
  delay: () => ({ startAfter: new Date(Date.now() + 1) }),
  failing: () => ({ retryLimit: 1, retryDelay: 0 }),
};
const connections = 20;
const emptyMs = 2;

export async function open({ url, heartbeatSeconds }) {
  const boss = new PgBoss({ connectionString: url, max: connections, useListenNotify: true });
  let onError = () => {};
  boss.on('error', (error) => onError(error));
  await boss.start();
  const queues = new Map();
  /** The first process that names a queue creates it. NOTIFY costs time with each add: only an idle queue has it. */
  const ready = (name, notify = false) => {
    if (!queues.has(name))
      queues.set(name, boss.createQueue(name, { notify, ...(heartbeatSeconds && { heartbeatSeconds }) }));
    return queues.get(name);
  };
  const sql = async (text, values) => (await boss.getDb().executeSql(text, values)).rows;
  return {
    ready,
    add: async (name, data) => {
      await ready(name);
      return boss.send(name, data);
    },
    addBulk: async (name, list, kind = 'plain') => {
      await ready(name);
      return boss.insert(
        name,
        list.map((data) => ({ data, ...OPTIONS[kind](data) })),
      );
    },
    filled: () => sql('vacuum analyze'),
    work: async (name, handler, { concurrency, isIdle, onSettled }) => {
      await ready(name, isIdle);
      const settled = countdown(onSettled);
      onError = settled.fail;
      return (isIdle ? listen : drain)({ boss, name, handler, concurrency, settled });
    },
    countDone: async (name) => {
      const text = "select count(*)::int as done from pgboss.job where name = $1 and state = 'completed'";
      return (await sql(text, [name]))[0].done;
    },
    close: () => boss.stop({ graceful: false }),
  };
}

function drain({ boss, name, handler, concurrency, settled }) {
  let isStopped = false;
  const loop = async () => {
    while (!isStopped) {
      const jobs = await boss.fetch(name, { batchSize: concurrency, includeMetadata: true });
      if (jobs.length === 0) await new Promise((resolve) => setTimeout(resolve, emptyMs));
      else await settle({ boss, name, jobs, handler, settled });
    }
  };
  let running = Promise.resolve();
  return {
    start: () => {
      running = loop().catch(settled.fail);
    },
    settled: settled.reached,
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

async function settle({ boss, name, jobs, handler, settled }) {
  const outcomes = await Promise.allSettled(jobs.map(async (job) => handler(job.data, job.retryCount + 1)));
  const ids = (status) => jobs.filter((_, index) => outcomes[index].status === status).map(({ id }) => id);
  const [done, failed] = [ids('fulfilled'), ids('rejected')];
  if (failed.length > 0) await boss.fail(name, failed);
  if (done.length > 0) await boss.complete(name, done);
  for (const _ of done) settled.count();
}

function listen({ boss, name, handler, concurrency, settled }) {
  const answer = async (jobs) => {
    await Promise.all(jobs.map(({ data }) => handler(data)));
    for (const _ of jobs) settled.count();
  };
  // A notification wakes every worker: two with groups answer sooner than ten of one job each.
  const localConcurrency = Math.min(2, concurrency);
  const options = { localConcurrency, batchSize: concurrency / localConcurrency };
  return {
    start: () => void boss.work(name, options, answer).catch(settled.fail),
    settled: settled.reached,
    stop: () => boss.offWork(name, { wait: true }),
  };
}
