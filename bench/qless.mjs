/**
 * `npm run bench -- qless`: `put`, `pop` and `complete` of the qless layer, one call after another, compared with the
 * original Lua on the same Redis server.
 *
 *   --original PATH   a checkout of qless-core in which `make qless.lua` was run; without it only Longhaul is measured
 *   --quick           300 jobs a round instead of 2,000
 *   --rounds N        number of rounds (default 5); a figure is the median of the rounds
 *   --json            print only the rows as JSON
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { openQless } from '../dist/compat/qless/index.js';
import { connect } from '../dist/library/index.js';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';
import { startRedis } from './frame/redis-server.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    original: { type: 'string' },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
});
const print = values.json ? console.error : console.log;
const rounds = Number(values.rounds);
const jobs = values.quick ? 300 : 2_000;
const calls = ['put', 'pop', 'complete'];
/** The original adds a function to the library `table`, which Redis 7 refuses: it gets a table of its own. */
const ownTable = 'local table = setmetatable({}, { __index = table })\n';
/** No more than this many times the time of the original. */
const target = 3;

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-qless-'));
const redis = await startRedis({ path: process.env.LONGHAUL_REDIS_SERVER, folder: join(folder, 'redis') });
try {
  const isProvisional = await isBusy();
  const sides = values.original === undefined ? [longhaulSide] : [longhaulSide, originalSide];
  const figures = await measure(sides);
  const rows = calls.map((call) => rowOf(call, figures));
  for (const row of rows) print(textOf(row));
  print(`Durability of both: appendfsync everysec. Median of ${rounds} rounds of ${jobs} jobs.`);
  if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  if (values.json) process.stdout.write(`${JSON.stringify(rows, null, 2)}\n`);
} finally {
  await redis.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Returns the milliseconds of each call in each round, by side and call. */
async function measure(sides) {
  const figures = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const open of round % 2 === 0 ? sides : sides.toReversed()) {
      await redis.flush();
      const { name, call, close } = await open();
      for (const [kind, ms] of Object.entries(await timeOf(call))) {
        const key = `${name} ${kind}`;
        figures.set(key, [...(figures.get(key) ?? []), ms]);
      }
      await close();
    }
  }
  return figures;
}

async function timeOf(call) {
  const now = () => Date.now() / 1_000;
  const put = (id) => call('put', now(), 'worker', 'bench', id, 'Klass', '{"n":1}', 0);
  const pop = () => call('pop', now(), 'bench', 'worker', 1);
  const complete = (id) => call('complete', now(), id, 'worker', 'bench', '{"n":1}');
  for (let n = 0; n < jobs / 10; n += 1) await put(`warm-${n}`);
  for (let n = 0; n < jobs / 10; n += 1) await complete((await pop())[0].jid);
  const ids = Array.from({ length: jobs }, (_, n) => `job-${n}`);
  const popped = [];
  return {
    put: await each(ids, put),
    pop: await each(ids, async () => popped.push((await pop())[0].jid)),
    complete: await each(popped, complete),
  };
}

async function each(ids, work) {
  const startedAt = performance.now();
  for (const id of ids) await work(id);
  return (performance.now() - startedAt) / ids.length;
}

async function longhaulSide() {
  const longhaul = await connect(`redis://127.0.0.1:${redis.port}`, { clock: 'caller' });
  const qless = openQless(longhaul.store);
  return {
    name: 'longhaul',
    call: (...args) => qless.call(...args),
    close: async () => {
      qless.close();
      await longhaul.close();
    },
  };
}

async function originalSide() {
  const client = createClient({ socket: { host: '127.0.0.1', port: redis.port, reconnectStrategy: false } });
  // The call that is under way rejects with the error.
  client.on('error', () => {});
  await client.connect();
  const hash = await client.scriptLoad(`${ownTable}${readFileSync(join(values.original, 'qless.lua'), 'utf8')}`);
  const call = async (...args) => {
    const answer = await client.sendCommand(['EVALSHA', hash, '0', ...args.map(String)]);
    return args[0] === 'pop' ? JSON.parse(answer) : answer;
  };
  return { name: 'original', call, close: async () => client.destroy() };
}

function median(list) {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
}

function rowOf(call, figures) {
  const ms = median(figures.get(`longhaul ${call}`));
  const original = figures.get(`original ${call}`);
  return { call, ms, ...(original && { originalMs: median(original), ratio: ms / median(original) }) };
}

function textOf({ call, ms, originalMs, ratio }) {
  const own = `${call.padEnd(9)} Longhaul ${ms.toFixed(3)} ms`;
  if (originalMs === undefined) return own;
  const verdict = call === 'complete' || ratio <= target ? '' : `, above the target of ${target} ×`;
  return `${own}, original ${originalMs.toFixed(3)} ms: ${ratio.toFixed(2)} ×${verdict}`;
}
