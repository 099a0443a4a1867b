/**
 * One side of bench/handlers.mjs in a process of its own: `side-process.mjs NAME PLAN`. It prints its figures as JSON.
 *
 * Its memory is read while its processes are warm: the proportional share (Pss) of this process and of all processes that
 * it started, so that pages which several processes share count once.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { sides } from './sides.mjs';

const [name, text] = process.argv.slice(2);
const { port, concurrency, jobs, warmUp, single } = JSON.parse(text);
const numbers = (count) => Array.from({ length: count }, (_, n) => ({ n }));

const session = await sides[name]({ port, concurrency });
let settled = warmUp;
await session.addAll(numbers(warmUp));
await session.settled(settled);

settled += jobs;
const startedAt = performance.now();
await session.addAll(numbers(jobs));
await session.settled(settled);
const perSecond = (jobs / (performance.now() - startedAt)) * 1_000;

const times = [];
for (let n = 0; n < single; n += 1) {
  const at = performance.now();
  const result = await session.runOne(n);
  if (result !== n * 2) throw new Error(`${name}: job ${n} returned ${result}`);
  times.push(performance.now() - at);
}
times.sort((a, b) => a - b);
const memory = memoryOfTree();
await session.close();
process.stdout.write(
  `${JSON.stringify({ perSecond, medianMs: times[times.length >> 1], p99Ms: times[Math.floor(times.length * 0.99)], ...memory })}\n`,
);
process.exit(0);

function memoryOfTree() {
  const parents = new Map();
  for (const pid of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const stat = tryRead(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    parents.set(Number(pid), { parent: Number(fields[1]), session: Number(fields[3]) });
  }
  const tree = new Set([process.pid]);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    // The watcher of an isolated process is in its session, but has another parent.
    for (const [pid, { parent, session }] of parents) if (tree.has(parent) || tree.has(session)) tree.add(pid);
  }
  const pssKB = [...tree].map((pid) => Number(/^Pss:\s+(\d+)/m.exec(tryRead(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0));
  return { processes: tree.size, pssMB: pssKB.reduce((sum, each) => sum + each, 0) / 1_024 };
}

function tryRead(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
