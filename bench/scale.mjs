/**
 * Measurements of Longhaul alone at large sizes, through the port of its store, in the process of a side.
 *
 * The number of waiting jobs stays constant while claims are timed: claimed jobs are settled and new ones added.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const queue = 'bench';
const batch = 1_000;
const claims = { one: 200, hundred: 30 };
const reads = 20;
const deepPages = 20;
const settleInMs = 2_000;

/**
 * Measures the median milliseconds of a claim, an add and a settlement in a store with `few` and in one with `many`
 * waiting jobs. The two stores take turns call by call, so that other load on the machine slows both.
 */
export async function growthCost({ longhaul }, { few, many, openBeside }) {
  const beside = await openBeside('few');
  const stores = [
    { size: 'few', longhaul: beside.longhaul },
    { size: 'many', longhaul },
  ];
  await addMany(beside.longhaul, few);
  await addMany(longhaul, many);
  // Warms up: newly loaded code is slow, whatever the number of jobs.
  await medians(stores, { limit: 100, times: claims.hundred });
  const one = await medians(stores, { limit: 1, times: claims.one });
  const hundred = await medians(stores, { limit: 100, times: claims.hundred });
  await beside.close();
  return { one: one.claim, hundred: hundred.claim, add: one.add, settle: one.settle };
}

/** Returns { claim, settle, add }, each { few, many }. Each store keeps its number of waiting jobs. */
async function medians(stores, { limit, times }) {
  const took = { claim: { few: [], many: [] }, settle: { few: [], many: [] }, add: { few: [], many: [] } };
  for (let time = 0; time < times; time += 1) {
    for (const { size, longhaul } of time % 2 === 0 ? stores : stores.toReversed()) {
      const cycle = await timedCycle(longhaul, limit);
      for (const [call, ms] of Object.entries(cycle)) took[call][size].push(ms);
    }
  }
  const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
  return Object.fromEntries(
    Object.entries(took).map(([call, { few, many }]) => [call, { few: median(few), many: median(many) }]),
  );
}

async function timedCycle(longhaul, limit) {
  let jobs = [];
  const claimed = await timed(async () => (jobs = await claim(longhaul, limit)));
  if (jobs.length !== limit) throw new Error(`a claim of ${limit} jobs got ${jobs.length}`);
  return {
    claim: claimed,
    settle: await timed(() => settle(longhaul, jobs)),
    add: await timed(() => addMany(longhaul, limit)),
  };
}

/** The slowest of many reads in milliseconds, once so many jobs are done. */
export async function finishedCost({ longhaul }, { finished }) {
  await longhaul.queue(queue).configure({ retention: { done: { for: null, count: null } } });
  for (let done = 0; done < finished; done += batch) {
    await addMany(longhaul, batch);
    await settle(longhaul, await claim(longhaul, batch));
  }
  const { done } = await longhaul.queue(queue).count();
  if (done !== finished) throw new Error(`${finished} jobs should be done, but ${done} are`);
  const { jobs } = longhaul.store;
  const lists = [{}, { queue }, { queue, state: 'done' }, { state: 'done' }, { queue, name: 'no such name' }];
  const took = [await slowestPage(jobs)];
  for (const query of lists) took.push(await slowestRead(() => jobs.list({ order: 'newest', limit: 50, ...query })));
  return { list: Math.max(...took), count: await slowestRead(() => jobs.count()) };
}

async function slowestRead(read) {
  const took = [];
  for (let time = 0; time < reads; time += 1) took.push(await timed(read));
  return Math.max(...took);
}

async function slowestPage(jobs) {
  let [after, slowest] = [undefined, 0];
  for (let page = 0; page < deepPages; page += 1) {
    slowest = Math.max(
      slowest,
      await timed(async () => {
        const { next } = await jobs.list({ queue, order: 'newest', limit: 500, ...(after && { after }) });
        after = next ?? undefined;
      }),
    );
  }
  return slowest;
}

async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Measures the CPU seconds of this process, all threads, while handlers wait and their leases are renewed. */
export async function heartbeats({ longhaul }, { jobs, seconds, onReady }) {
  await addMany(longhaul, jobs);
  let [release, running] = [() => {}, 0];
  const released = new Promise((resolve) => (release = resolve));
  const handler = async () => {
    running += 1;
    await released;
  };
  const work = longhaul.queue(queue).work(handler, { concurrency: jobs });
  while (running < jobs) await sleep(20);
  await sleep(settleInMs);
  onReady();
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  await sleep(seconds * 1_000);
  const { user, system } = process.cpuUsage(before);
  const elapsedSeconds = (performance.now() - startedAt) / 1_000;
  release();
  await work.stop();
  return { cpuSeconds: (user + system) / 1e6, elapsedSeconds };
}

async function addMany(longhaul, count) {
  for (let first = 0; first < count; first += batch) {
    const length = Math.min(batch, count - first);
    await longhaul.queue(queue).addAll(Array.from({ length }, (_, index) => ({ n: first + index })));
  }
}

const claim = async (longhaul, limit) =>
  (await longhaul.store.jobs.claim({ worker: 'bench', queues: [queue], limit, requestId: randomUUID() })).jobs;

const settle = (longhaul, jobs) =>
  longhaul.store.jobs.settle(jobs.map(({ id, lease }) => ({ kind: 'complete', id, token: lease.token })));
