/**
 * `npm run bench -- retention`: the size of a store with retention under load, and the latency of its settlements compared
 * with the same store without retention.
 *
 *   --quick              30,000 jobs instead of 1,000,000
 *   --only redis|sqlite  one store
 *   --json               print only the rows as JSON
 *
 * Two stores of a kind take turns, round by round, under a steady load of two fifths of the rate that the store without
 * retention reached: in an overloaded store everything waits, with or without retention. In each, the same workers claim
 * jobs through the port and settle them one by one. In one of them retention runs in the maintenance loop of a worker
 * process, only more often. Every latency is that of a single settlement.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from '../dist/library/index.js';
import { startMaintenance } from '../dist/worker/loop/maintenance.js';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { startRedis } from './frame/redis-server.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
  choices: { only: ['redis', 'sqlite'] },
});
const print = values.json ? console.error : console.log;
const total = values.quick ? 30_000 : 1_000_000;
const kept = values.quick ? 5_000 : 50_000;
const rounds = values.quick ? 4 : 6;
/** Jobs for the store without retention, which grows: enough for a 99th percentile. */
const withoutTotal = Math.min(total, 150_000);
const workers = 16;
const batch = 20;
const everyMs = 250;
const loadShare = 0.4;
const targets = { p99: 1.2, size: 1.2 };
const queue = 'bench';
const durability = { sqlite: 'synchronous = FULL', redis: 'appendfsync everysec' };

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-retention-'));
const rows = [];
try {
  const isProvisional = await isBusy();
  if (values.only !== 'redis') rows.push(...(await measure('sqlite', sqliteStores())));
  if (values.only !== 'sqlite') {
    const redis = await startRedis({ path: process.env.LONGHAUL_REDIS_SERVER, folder: join(folder, 'redis') });
    try {
      rows.push(...(await measure('redis', redisStores(redis))));
    } finally {
      await redis.stop();
    }
  }
  if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function sqliteStores() {
  const path = (name) => join(folder, name);
  return {
    open: (name) => connect(path(name)),
    bytes: async (name) => statSync(join(path(name), 'store.db')).size,
  };
}

/** The size of the ended jobs' texts: the memory of the server belongs to both stores together. */
function redisStores({ port }) {
  return {
    open: (name) => connect(`redis://127.0.0.1:${port}?namespace=${name}`),
    bytes: async (_name, longhaul) => (await longhaul.storage(queue))[0]?.done.bytes ?? 0,
  };
}

async function measure(kind, stores) {
  print(`${kind}: ${total.toLocaleString('en')} jobs, ${kept.toLocaleString('en')} kept (${durability[kind]})`);
  const [plain, pruned] = [await openStore(stores, 'plain', null), await openStore(stores, 'pruned', kept)];
  try {
    // A first pass, so that fixed costs of the first jobs do not count as growth.
    const startedAt = performance.now();
    await pass(plain, 2 * kept, Number.POSITIVE_INFINITY);
    const rate = ((2 * kept) / (performance.now() - startedAt)) * loadShare;
    await pass(pruned, 2 * kept, Number.POSITIVE_INFINITY);
    print(`  a load of ${Math.round(rate * 1_000).toLocaleString('en')} jobs a second`);
    for (const side of [plain, pruned]) side.took.length = 0;
    await pruneAll(pruned);
    const sizeBefore = await stores.bytes('pruned', pruned.longhaul);
    for (let round = 0; round < rounds; round += 1) {
      const order = round % 2 === 0 ? [plain, pruned] : [pruned, plain];
      for (const side of order) await pass(side, Math.ceil((side === pruned ? total : withoutTotal) / rounds), rate);
    }
    await pruneAll(pruned);
    return rowsOf(kind, { plain, pruned, sizeBefore, sizeAfter: await stores.bytes('pruned', pruned.longhaul) });
  } finally {
    for (const { longhaul } of [plain, pruned]) await longhaul.close();
  }
}

async function openStore(stores, name, count) {
  const longhaul = await stores.open(name);
  await longhaul.queue(queue).configure({ retention: { done: { for: null, count } } });
  return { longhaul, took: [], errors: [], isPruned: count !== null, most: 0 };
}

/** Runs `count` jobs through the store, at most `rate` a millisecond. */
async function pass(side, count, rate) {
  const pace = pacer(rate);
  const stop = side.isPruned ? runRetention(side) : () => {};
  let left = count;
  const work = async () => {
    while (left > 0) {
      const size = Math.min(batch, left);
      left -= size;
      await side.longhaul.queue(queue).addAll(Array.from({ length: size }, (_, n) => ({ n })));
      await settleSome(side, size, pace);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  for (let more = true; more; ) more = (await settleSome(side, batch, pace)) > 0;
  stop();
  if (side.errors.length > 0) throw side.errors[0];
}

/** Returns a function that waits for the next slot of the rate. */
function pacer(rate) {
  const startedAt = performance.now();
  let given = 0;
  return async () => {
    const dueIn = startedAt + given++ / rate - performance.now();
    if (dueIn > 1) await sleep(dueIn);
  };
}

async function settleSome({ longhaul, took }, limit, pace) {
  const { jobs } = longhaul.store;
  const claimed = await jobs.claim({ worker: 'bench', queues: [queue], limit, requestId: randomUUID() });
  for (const { id, lease } of claimed.jobs) {
    await pace();
    const startedAt = performance.now();
    const [answer] = await jobs.settle([{ kind: 'complete', id, token: lease.token, result: '{"ok":true}' }]);
    took.push(performance.now() - startedAt);
    if (!answer.ok) throw new Error(`a settlement was refused: ${answer.refusal.code}`);
  }
  return claimed.jobs.length;
}

/** Runs the maintenance loop of a worker process, and samples the number of done jobs. */
function runRetention(side) {
  const onError = (error) => side.errors.push(error);
  const maintenance = startMaintenance(side.longhaul.store, onError, everyMs);
  const sample = async () => {
    side.most = Math.max(side.most, (await side.longhaul.queue(queue).count()).done);
  };
  const timer = setInterval(() => void sample().catch(onError), everyMs);
  return () => {
    maintenance.stop();
    clearInterval(timer);
  };
}

async function pruneAll({ longhaul }) {
  while ((await longhaul.maintain()).more);
  const { done } = await longhaul.queue(queue).count();
  if (done > kept) throw new Error(`${kept} jobs should be kept, but ${done} are`);
}

function rowsOf(kind, { plain, pruned, sizeBefore, sizeAfter }) {
  const against = 'the same store without retention';
  return [
    row({ row: `settle p50, ${kind}`, ours: at(pruned, 0.5), peer: at(plain, 0.5), unit: 'ms', against }, kind),
    row(
      {
        row: `settle p99, ${kind}`,
        ours: at(pruned, 0.99),
        peer: at(plain, 0.99),
        unit: 'ms',
        against,
        most: targets.p99,
      },
      kind,
    ),
    row(
      {
        row: `size after ${total.toLocaleString('en')} jobs, ${kind}`,
        ours: sizeAfter,
        peer: sizeBefore,
        unit: 'bytes',
        against: 'itself before',
        most: targets.size,
      },
      kind,
    ),
    row(
      { row: `most done jobs at once, ${kind}`, ours: pruned.most, peer: kept, unit: 'jobs', against: 'the limit' },
      kind,
    ),
  ];
}

function row({ most, ...given }, kind) {
  const ratio = given.ours / given.peer;
  const made = {
    ...given,
    ratio,
    reach: most === undefined ? null : `≤ ${most} ×`,
    ok: most === undefined ? null : ratio <= most,
    durability: { ours: durability[kind], peer: durability[kind] },
  };
  const figure = (value) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));
  const verdict = made.ok === null ? '' : made.ok ? `  reached (${made.reach})` : `  NOT reached (${made.reach})`;
  print(
    `  ${made.row}: ${figure(made.ours)} ${made.unit}, ${made.against} ${figure(made.peer)}: ${ratio.toFixed(2)} ×${verdict}`,
  );
  return made;
}

function at({ took }, share) {
  return took.toSorted((a, b) => a - b)[Math.floor(took.length * share)];
}
