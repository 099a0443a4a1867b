/**
 * Handlers in processes of their own, compared with BullMQ's sandboxed processors on the same Redis, and with handlers in
 * the event loop of the worker. All sides run the same module, four jobs at once.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRedis } from '../frame/redis-server.mjs';

const concurrency = 4;
const limitMs = 120_000;
const names = ['longhaul', 'bullmq', 'longhaul, not isolated'];
const sideProcess = fileURLToPath(new URL('../handlers/side-process.mjs', import.meta.url));
const run = promisify(execFile);

/** Returns the medians of each side, and the rows with their targets. */
export async function measureIsolation({ rounds, size, print }) {
  const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-handlers-'));
  const redis = await startRedis({ path: process.env.LONGHAUL_REDIS_SERVER, folder });
  const figures = new Map(names.map((name) => [name, []]));
  try {
    for (let round = 0; round < rounds; round += 1)
      for (const name of rotated(names, round)) {
        const measured = await measure(redis, name, size);
        figures.get(name).push(measured);
        print(`  round ${round + 1}  ${name.padEnd(24)} ${line(measured)}`);
      }
  } finally {
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  const sides = new Map([...figures].map(([name, list]) => [name, medians(list)]));
  for (const [name, each] of sides) print(`${name.padEnd(24)} ${line(each)}`);
  return { sides: Object.fromEntries(sides), rows: rowsOf(sides) };
}

async function measure(redis, name, size) {
  await redis.flush();
  const plan = JSON.stringify({ port: redis.port, concurrency, ...size });
  const { stdout } = await run(process.execPath, [sideProcess, name, plan], { timeout: limitMs });
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

function rowsOf(sides) {
  const [ours, theirs, plain] = names.map((name) => sides.get(name));
  const rows = [
    { row: 'isolated jobs per second, against BullMQ', value: ours.perSecond / theirs.perSecond, target: '> 1' },
    { row: 'memory of isolated processes, against BullMQ', value: ours.pssMB / theirs.pssMB, target: '< 1' },
    { row: 'ms that a warm isolated process adds to a job', value: ours.medianMs - plain.medianMs, target: '≤ 5' },
  ];
  return rows.map((each) => ({ ...each, reached: isReached(each) }));
}

const line = ({ perSecond, medianMs, p99Ms, pssMB, processes }) =>
  `${perSecond.toFixed(0)} jobs/s, one job ${medianMs.toFixed(2)} ms (p99 ${p99Ms.toFixed(1)}), ` +
  `${pssMB.toFixed(0)} MB in ${processes} processes`;

function isReached({ value, target }) {
  const [sign, number] = target.split(' ');
  if (sign === '>') return value > Number(number);
  return sign === '<' ? value < Number(number) : value <= Number(number);
}

function medians(list) {
  const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
  return Object.fromEntries(Object.keys(list[0]).map((key) => [key, median(list.map((each) => each[key]))]));
}

const rotated = (list, by) => list.map((_, index) => list[(index + by) % list.length]);
