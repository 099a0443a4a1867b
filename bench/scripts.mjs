/**
 * `npm run bench -- scripts`: scripts a second of a node, compared with GNU parallel and task-spooler at the same
 * concurrency. The peers keep no history and no complete output, and survive no restart.
 *
 *   --quick         few scripts, one round
 *   --rounds N      number of rounds (default 3)
 *   --json          print only the figures as JSON
 *   --folder PATH   directory for the files of Longhaul and task-spooler (default /var/tmp, which is on disk)
 *
 * Every script appends a line to a ledger file: a run in which a script did not run exactly once is void.
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
const print = values.json ? console.error : console.log;
const count = values.quick ? 200 : 1_000;
const concurrency = 4;
/** Scripts before the measurement, for the contenders with a server: node and task-spooler. */
const warmUp = values.quick ? 100 : 300;
const heavyBytes = 500 * 1024 ** 2;
// Removed at the end of the run: creating files is slower for minutes after many files were removed, which would slow down
// the next contender.
const workspaces = mkdtempSync(
  join(values.folder ?? (existsSync('/var/tmp') ? '/var/tmp' : tmpdir()), 'longhaul-bench-scripts-'),
);
const rounds = Number(values.rounds ?? (values.quick ? 1 : 3));

const contenders = {
  longhaul: (workspace) => runLonghaul(workspace, {}),
  'longhaul, 500 MB heap': (workspace) =>
    runLonghaul(workspace, { NODE_OPTIONS: `--max-old-space-size=4096 --import ${workspace.ballast}` }),
  'GNU parallel': runParallel,
  'task-spooler': runTaskSpooler,
};

/** Microseconds to create a directory with a file. */
const slowFiles = 120;
const maxWaits = 16;
const waitMs = 15_000;
const slowFilesMessage =
  'creating files is slow there, as for minutes after many were removed: try again later, or use --folder';

const targets = [
  ['longhaul', 'GNU parallel', 0.7],
  ['longhaul, 500 MB heap', 'longhaul', 0.9],
];

async function main() {
  installPeers();
  const microseconds = await waitForFastFiles();
  const isProvisional = (await isBusy()) || microseconds > slowFiles;
  const figures = new Map(Object.keys(contenders).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const name of rotated(Object.keys(contenders), round)) {
      const rate = await measure(name);
      figures.get(name).push(rate);
      print(`  round ${round + 1}  ${name.padEnd(22)} ${rate.toFixed(0)} scripts/s`);
    }
  }
  const rows = targets.map(([ours, theirs, least]) => {
    const ratio = median(figures.get(ours)) / median(figures.get(theirs));
    return { ours, theirs, least, ratio: Number(ratio.toFixed(2)), reached: ratio >= least };
  });
  print(`\nCreating a directory with a file took ${microseconds} us at the start.`);
  print(
    `${count} scripts, ${concurrency} at once, ${rounds === 1 ? 'one round' : `median of ${rounds} rounds in turns`}`,
  );
  if (microseconds > slowFiles) print(`PROVISIONAL: ${slowFilesMessage}`);
  else if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  for (const [name, rates] of figures) print(`${name.padEnd(24)} ${median(rates).toFixed(0)} scripts/s`);
  for (const { ours, theirs, least, ratio, reached } of rows)
    print(`${ours} against ${theirs}: ${ratio} (target: ${least}) ${reached ? 'reached' : 'MISSED'}`);
  if (values.json)
    process.stdout.write(`${JSON.stringify({ rows, figures: Object.fromEntries(figures), isProvisional }, null, 2)}\n`);
}

async function measure(name) {
  const workspace = createWorkspace();
  // Writes of the previous contender must not fall into this measurement.
  execFileSync('sync');
  const seconds = await contenders[name](workspace);
  const all = name === 'GNU parallel' ? count : warmUp + count;
  const ran = readFileSync(workspace.ledger, 'utf8').split('\n').length - 1;
  if (ran !== all) throw new Error(`${name} is void: ${ran} of ${all} scripts ran`);
  return count / seconds;
}

function createWorkspace() {
  const folder = mkdtempSync(join(workspaces, 'place-'));
  const ledger = join(folder, 'ledger');
  const script = join(folder, 'queues', 'work');
  const ballast = join(folder, 'ballast.mjs');
  mkdirSync(join(folder, 'queues'), { mode: 0o700 });
  writeFileSync(ledger, '');
  writeFileSync(script, `#!/bin/bash\necho "working on something"\necho x >> ${ledger}\n`, { mode: 0o755 });
  writeFileSync(join(folder, 'queues', 'work.json'), JSON.stringify({ concurrency }));
  // Only in the node: its threads and the runner process get the same options, but stay small.
  writeFileSync(
    ballast,
    `import { isMainThread } from 'node:worker_threads';
if (isMainThread && process.argv.includes('serve')) {
  globalThis.ballast = [];
  while (process.memoryUsage().heapUsed < ${heavyBytes}) globalThis.ballast.push(Array.from({ length: 10_000 }, (_, n) => ({ n })));
}
`,
  );
  return { folder, ledger, script, ballast };
}

/**
 * Adds all jobs in one call, as GNU parallel gets its list. The node logs to a file, because the reader of a pipe wakes up
 * for each line. The store is queried only after the last script has run, because each query takes time from the scripts.
 */
async function runLonghaul({ folder, ledger }, env) {
  const output = join(folder, 'output');
  const node = spawn(process.execPath, [join(root, 'dist/cli/main.js'), 'serve', '--home', folder], {
    env: { ...process.env, LONGHAUL_PORT: '0', LONGHAUL_LOG_FORMAT: 'pretty', ...env },
    stdio: ['ignore', openSync(output, 'w'), 'inherit'],
  });
  try {
    while (!readFileSync(output, 'utf8').includes('longhaul serves')) {
      if (node.exitCode !== null) throw new Error(`the node exited with ${node.exitCode}`);
      await sleep(20);
    }
    const through = async (number, total) => {
      await withStore(folder, (longhaul) =>
        longhaul.queue('work').addAll(Array.from({ length: number }, (_, n) => ({ n }))),
      );
      await scriptsRan(ledger, total);
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

/** Closes the store while the scripts run: an open store receives an event for each of them. */
async function withStore(folder, act) {
  const longhaul = await connect(folder);
  try {
    await act(longhaul);
  } finally {
    await longhaul.close();
  }
}

async function runParallel({ script }) {
  const startedAt = performance.now();
  const child = spawn('parallel', ['--will-cite', '-j', String(concurrency), '-N0', script], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  child.stdin.end(Array.from({ length: count }, (_, n) => `${n}\n`).join(''));
  await once(child, 'exit');
  return (performance.now() - startedAt) / 1_000;
}

/** Adds jobs one by one, the only way of task-spooler; the measurement ends when the last script has run. */
async function runTaskSpooler({ folder, script, ledger }) {
  const env = { ...process.env, TS_SOCKET: join(folder, 'tsp.socket'), TMPDIR: folder };
  execFileSync('tsp', ['-S', String(concurrency)], { env });
  const through = async (number, total) => {
    const adds = `for n in $(seq ${number}); do tsp "${script}" > /dev/null; done`;
    const child = spawn('bash', ['-c', adds], { env, stdio: ['ignore', 'ignore', 'inherit'] });
    await once(child, 'exit');
    await scriptsRan(ledger, total);
  };
  await through(warmUp, warmUp);
  const startedAt = performance.now();
  await through(count, warmUp + count);
  const seconds = (performance.now() - startedAt) / 1_000;
  execFileSync('tsp', ['-K'], { env });
  return seconds;
}

/**
 * Waits until creating files is fast, at most some minutes; returns the cost of a file. An attempt creates seven files, so
 * the cost matters. ext4 without a journal is ten times slower for minutes after many files were removed nearby.
 */
async function waitForFastFiles() {
  for (let waits = 0; ; waits += 1) {
    const microseconds = fileCostMicroseconds();
    if (microseconds <= slowFiles || waits === maxWaits) return microseconds;
    if (waits === 0)
      print(`Creating files is slow in ${workspaces} (${microseconds} us): waiting for up to 4 minutes …`);
    await sleep(waitMs);
  }
}

function fileCostMicroseconds() {
  const folder = mkdtempSync(join(workspaces, 'files-'));
  const startedAt = performance.now();
  for (let made = 0; made < 500; made += 1) {
    mkdirSync(join(folder, String(made)));
    writeFileSync(join(folder, String(made), 'file'), '');
  }
  return Math.round(((performance.now() - startedAt) / 500) * 1_000);
}

async function scriptsRan(ledger, number) {
  // Not more often: polling uses CPU time too.
  while (statSync(ledger).size < 2 * number) await sleep(10);
}

function installPeers() {
  const missing = [
    ['parallel', 'parallel'],
    ['tsp', 'task-spooler'],
  ].filter(([program]) => !(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, program))));
  if (missing.length === 0) return;
  const names = missing.map(([, name]) => name);
  if (process.getuid?.() !== 0) throw new Error(`install ${names.join(' and ')} first, or run this as root on Debian`);
  print(`Installing ${names.join(' and ')} …`);
  try {
    execFileSync('apt-get', ['update'], { stdio: 'ignore' });
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', ...names], { stdio: 'ignore' });
  } catch {
    throw new Error(`apt-get could not install ${names.join(' and ')}: install them first`);
  }
}

const rotated = (names, by) => names.map((_, index) => names[(index + by) % names.length]);
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;

try {
  await main();
} finally {
  rmSync(workspaces, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
