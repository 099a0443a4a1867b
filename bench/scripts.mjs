/**
 * `npm run bench -- scripts`: how many scripts a second a node gets done, beside GNU parallel and task-spooler with the
 * same script and as many at once. Those keep no history, no output from the first byte, and survive nothing.
 *
 *   --quick   few scripts, one round      --rounds N   default 3      --json   the figures alone
 *   --folder PATH   where the files of Longhaul and task-spooler go; default /var/tmp, which is no memory
 *
 * Every script leaves a line in a file that only it writes: a run in which not each of them ran once is void.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from '../dist/library/index.js';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    folder: { type: 'string' },
  },
  numbers: ['rounds'],
});
const say = values.json ? console.error : console.log;
const count = values.quick ? 200 : 1_000;
const atOnce = 4;
/** Run before the time begins, by those who stay: a node and a spooler. */
const warmUp = values.quick ? 100 : 300;
const heavyBytes = 500 * 1024 ** 2;
// Removed when all is over: a disk that many files were removed from a moment ago makes files more slowly, and whoever
// comes next would pay for what the last one left.
const places = mkdtempSync(
  join(values.folder ?? (existsSync('/var/tmp') ? '/var/tmp' : tmpdir()), 'longhaul-bench-scripts-'),
);
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));

const contenders = {
  longhaul: (place) => byLonghaul(place, {}),
  'longhaul, 500 MB heap': (place) =>
    byLonghaul(place, { NODE_OPTIONS: `--max-old-space-size=4096 --import ${place.ballast}` }),
  'GNU parallel': byParallel,
  'task-spooler': byTaskSpooler,
};

/** Microseconds for a folder with a file in it. */
const slowFiles = 120;
const mostWaits = 16;
const waitMs = 15_000;
const slowly = 'files are made slowly there, as for minutes after many were removed: try again later, or --folder';

const reaches = [
  ['longhaul', 'GNU parallel', 0.7],
  ['longhaul, 500 MB heap', 'longhaul', 0.9],
];

async function main() {
  installPeers();
  const microseconds = await whenAtRest();
  const isProvisional = (await isBusy()) || microseconds > slowFiles;
  const figures = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of rotated(Object.keys(contenders), round)) {
      const rate = await measure(name);
      figures.get(name).push(rate);
      say(`  round ${round + 1}  ${name.padEnd(22)} ${rate.toFixed(0)} scripts/s`);
    }
  }
  const rows = reaches.map(([ours, theirs, least]) => {
    const ratio = median(figures.get(ours)) / median(figures.get(theirs));
    return { ours, theirs, least, ratio: Number(ratio.toFixed(2)), reached: ratio >= least };
  });
  say(`\nTo make a folder with a file in it took ${microseconds} us at the start.`);
  say(`${count} scripts, ${atOnce} at once, ${rounds === 1 ? 'one round' : `median of ${rounds} rounds in turns`}`);
  if (microseconds > slowFiles) say(`PROVISIONAL: ${slowly}`);
  else if (isProvisional) say('PROVISIONAL: something else was running on this machine.');
  for (const [name, rates] of figures) say(`${name.padEnd(24)} ${median(rates).toFixed(0)} scripts/s`);
  for (const { ours, theirs, least, ratio, reached } of rows)
    say(`${ours} against ${theirs}: ${ratio} (to reach: ${least}) ${reached ? 'reached' : 'MISSED'}`);
  if (values.json)
    process.stdout.write(`${JSON.stringify({ rows, figures: Object.fromEntries(figures), isProvisional }, null, 2)}\n`);
}

async function measure(name) {
  const place = aPlace();
  // What the one before has left to be written is not to be written in this one's time.
  execFileSync('sync');
  const seconds = await contenders[name](place);
  const all = name === 'GNU parallel' ? count : warmUp + count;
  const ran = readFileSync(place.witness, 'utf8').split('\n').length - 1;
  if (ran !== all) throw new Error(`${name} is void: ${ran} of ${all} scripts ran`);
  return count / seconds;
}

function aPlace() {
  const folder = mkdtempSync(join(places, 'place-'));
  const witness = join(folder, 'witness');
  const script = join(folder, 'queues', 'work');
  const ballast = join(folder, 'ballast.mjs');
  mkdirSync(join(folder, 'queues'), { mode: 0o700 });
  writeFileSync(witness, '');
  writeFileSync(script, `#!/bin/bash\necho "working on something"\necho x >> ${witness}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'queues', 'work.json'), JSON.stringify({ concurrency: atOnce }));
  // In the node alone: its threads and the runner process, which are given the same options, stay small.
  writeFileSync(
    ballast,
    `import { isMainThread } from 'node:worker_threads';
if (isMainThread && process.argv.includes('serve')) {
  globalThis.ballast = [];
  while (process.memoryUsage().heapUsed < ${heavyBytes}) globalThis.ballast.push(Array.from({ length: 10_000 }, (_, n) => ({ n })));
}
`,
  );
  return { folder, witness, script, ballast };
}

/**
 * Its jobs are given to it as a list, like those of GNU parallel, and it prints into a file, since whoever reads a pipe is
 * woken by each line. It is asked only once the last script has run: each question costs as much as a part of a script.
 */
async function byLonghaul({ folder, witness }, env) {
  const printed = join(folder, 'printed');
  const node = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', '--home', folder], {
    env: { ...process.env, LONGHAUL_PORT: '0', LONGHAUL_LOG_FORMAT: 'pretty', ...env },
    stdio: ['ignore', openSync(printed, 'w'), 'inherit'],
  });
  try {
    while (!readFileSync(printed, 'utf8').includes('longhaul serves')) {
      if (node.exitCode !== null) throw new Error(`the node ended with ${node.exitCode}`);
      await sleep(20);
    }
    const through = async (number, total) => {
      await withStore(folder, (longhaul) =>
        longhaul.queue('work').addAll(Array.from({ length: number }, (_, n) => ({ n }))),
      );
      await scriptsRan(witness, total);
      await withStore(folder, async ({ store }) => {
        while ((await store.jobs.count(['work']))[0].done < total) await sleep(5);
      });
    };
    await through(warmUp, warmUp);
    const startedAt = performance.now();
    await through(count, warmUp + count);
    const seconds = (performance.now() - startedAt) / 1_000;
    return seconds;
  } finally {
    node.kill('SIGTERM');
    await once(node, 'exit');
  }
}

/** Gone while the scripts run: whoever has the store open is told of each of them. */
async function withStore(folder, act) {
  const longhaul = await connect(folder);
  try {
    await act(longhaul);
  } finally {
    await longhaul.close();
  }
}

async function byParallel({ script }) {
  const startedAt = performance.now();
  const child = spawn('parallel', ['--will-cite', '-j', String(atOnce), '-N0', script], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(Array.from({ length: count }, (_, n) => `${n}\n`).join(''));
  await once(child, 'exit');
  return (performance.now() - startedAt) / 1_000;
}

/** Its jobs are given to it one by one, as it knows no other way; the time ends when the last script has run. */
async function byTaskSpooler({ folder, script, witness }) {
  const env = { ...process.env, TS_SOCKET: join(folder, 'tsp.socket'), TMPDIR: folder };
  execFileSync('tsp', ['-S', String(atOnce)], { env });
  const through = async (number, total) => {
    const adds = `for n in $(seq ${number}); do tsp "${script}" > /dev/null; done`;
    const child = spawn('bash', ['-c', adds], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'exit');
    await scriptsRan(witness, total);
  };
  await through(warmUp, warmUp);
  const startedAt = performance.now();
  await through(count, warmUp + count);
  const seconds = (performance.now() - startedAt) / 1_000;
  execFileSync('tsp', ['-K'], { env });
  return seconds;
}

/**
 * An attempt makes seven, so this decides much. ext4 without a journal takes ten times as long for minutes after many
 * files were removed near by.
 */
/** What a file costs once the disk has got over what was removed before; or after some minutes, as it is. */
async function whenAtRest() {
  for (let waits = 0; ; waits += 1) {
    const microseconds = costOfFiles();
    if (microseconds <= slowFiles || waits === mostWaits) return microseconds;
    if (waits === 0) say(`Files are made slowly in ${places} (${microseconds} us): waiting for up to 4 minutes …`);
    await sleep(waitMs);
  }
}

function costOfFiles() {
  const folder = mkdtempSync(join(places, 'files-'));
  const startedAt = performance.now();
  for (let made = 0; made < 500; made += 1) {
    mkdirSync(join(folder, String(made)));
    writeFileSync(join(folder, String(made), 'file'), '');
  }
  return Math.round(((performance.now() - startedAt) / 500) * 1_000);
}

async function scriptsRan(witness, number) {
  // Not more often: looking takes its part of two cores too.
  while (statSync(witness).size < 2 * number) await sleep(10);
}

function installPeers() {
  const missing = [
    ['parallel', 'parallel'],
    ['tsp', 'task-spooler'],
  ].filter(([program]) => !(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program))));
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  if (process.getuid?.() !== 0) throw new Error(`install ${names.join(' and ')} first, or run this as root on Debian`);
  say(`Installing ${names.join(' and ')} …`);
  execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], { stdio: 'ignore' });
}

const rotated = (names, by) => names.map((_, index) => names[(index + by) % names.length]);
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

try {
  await main();
} finally {
  rmSync(places, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
