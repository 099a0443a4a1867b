/**
 * `npm run demo`: one minute that shows what a restart does to running jobs. Starts a node with jobs of several kinds in a
 * temporary directory, kills it with SIGKILL, starts it again, and shows that the same processes went on.
 *
 *   npm run demo -- --seconds 30    how long the longest job runs; 40 by default
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { main, print, root, run, UserError } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { usageError } from './usage.mjs';

const program = join(root, 'dist/cli/main.js');
const [shortest, longest] = [6, 3_600];

await main(import.meta.url, async (args) => {
  const seconds = secondsOf(args);
  await setUp();
  const home = mkdtempSync(join(tmpdir(), 'longhaul-demo-'));
  let node = null;
  try {
    writeQueues(home, seconds);
    node = await startNode(home, 0);
    print(`\nA node runs (process ${node.pid}). Open ${node.url} to watch it.`);
    for (const id of ['film-1', 'film-2']) await longhaul(home, 'add', 'films', '--id', id, '--name', `Render ${id}`);
    await longhaul(home, 'add', 'reports', '--id', 'report-1', '--after', 'film-1', '--name', 'Report on film-1');
    await showJobs(home, seconds / 3);
    print(`\nkill -9 ${node.pid}: the node is gone, its scripts are not.`);
    await kill(node);
    await sleep((seconds / 6) * 1_000);
    node = await startNode(home, node.port);
    print(`\nA new node (process ${node.pid}) has adopted them.`);
    await showJobs(home, seconds, 'report-1');
    await showProof(home, seconds);
    return 0;
  } finally {
    if (node !== null) await stop(home, node);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  }
});

function secondsOf(args) {
  if (args.length === 0) return 40;
  const seconds = Number(args[1]);
  if (args.length === 2 && args[0] === '--seconds' && seconds >= shortest && seconds <= longest) return seconds;
  throw usageError(import.meta.url, `Unknown argument ${args.join(' ')}.`);
}

function writeQueues(home, seconds) {
  const film = `for frame in $(seq ${seconds}); do
  echo "frame $frame by process $$"
  echo "progress $((frame * 100 / ${seconds})) frame $frame" >&3
  sleep 1
done`;
  mkdirSync(join(home, 'queues'), { mode: 0o700 });
  for (const [name, body] of [
    ['films', film],
    ['reports', 'echo "the film is ready"'],
  ]) {
    const path = join(home, 'queues', name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o700);
    writeFileSync(`${path}.json`, '{ "concurrency": 2 }');
  }
}

/** Resolves with { pid, url, port, child } when the node serves. */
function startNode(home, port) {
  const child = spawn(process.execPath, [program, 'serve', '--home', home, '--port', String(port)], {
    env: { ...process.env, LONGHAUL_LOG_FORMAT: 'json' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new UserError(`The node ended with code ${code}.`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const { url } = JSON.parse(line);
      if (url !== undefined) resolve({ pid: child.pid, url, port: new URL(url).port, child });
    });
  });
}

async function kill({ child }) {
  child.removeAllListeners('exit');
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
}

/** Cancels what still runs after a failure: a stop alone would leave the scripts running. */
async function stop(home, { child }) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await run(process.execPath, [program, 'cancel', 'film-1', 'film-2', 'report-1', '--home', home]);
  child.removeAllListeners('exit');
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
}

async function longhaul(home, ...args) {
  const { code, output } = await run(process.execPath, [program, ...args, '--home', home]);
  if (code !== 0) throw new UserError(`longhaul ${args[0]} failed.`, { output });
  return output;
}

/** Prints the jobs every few seconds, for a time or until the named job is done. */
async function showJobs(home, seconds, until = '') {
  const end = Date.now() + (seconds + (until === '' ? 0 : 60)) * 1_000;
  while (Date.now() < end) {
    print(`\n${(await longhaul(home, 'ls')).trimEnd()}`);
    if (until !== '' && JSON.parse(await longhaul(home, 'show', until, '--json')).state === 'done') return;
    await sleep(3_000);
  }
  if (until !== '') throw new UserError(`Job ${until} did not end in time.`);
}

async function showProof(home, seconds) {
  const log = await longhaul(home, 'logs', 'film-1');
  const processes = new Set([...log.matchAll(/by process (\d+)/g)].map(([, pid]) => pid));
  const frames = log.match(/^frame/gm)?.length ?? 0;
  const { attempt } = JSON.parse(await longhaul(home, 'show', 'film-1', '--json'));
  print(
    `\nfilm-1 wrote ${frames} of ${seconds} frames in ${attempt} attempt, all from process ${[...processes].join(', ')}.`,
  );
  if (frames !== seconds || attempt !== 1 || processes.size !== 1)
    throw new UserError('The job did not survive the restart of its node.');
}
