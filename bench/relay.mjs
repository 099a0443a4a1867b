/**
 * `npm run bench -- relay`: the relay of a large file between two nodes over the loopback, compared with curl and a plain
 * file server; and small jobs a second.
 *
 *   --size MB   size of the file (default 1000)
 *   --quick     100 MB and few jobs
 *   --json      print only the figures as JSON
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    size: { type: 'string' },
  },
  numbers: ['size'],
});
const print = values.json ? console.error : console.log;
const megabytes = Number(values.size ?? (values.quick ? 100 : 1_000));
const smallJobs = values.quick ? 100 : 1_000;
const cli = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
/** A shell between this process and the node: when this process ends, its stdin closes and it ends the node. */
const supervisor = '"$@" </dev/null & pid=$!; echo "pid $pid"; read -r _; kill "$pid"; wait "$pid"';
const target = { ratio: 0.6, rssMB: 64 };

const folder = mkdtempSync(join(tmpdir(), 'longhaul-bench-relay-'));
const nodes = [];
try {
  const isProvisional = await isBusy();
  const file = makeFile();
  const curl = await timeCurl(file);
  const [sender, receiver] = [await startNode('sender'), await startNode('receiver')];
  longhaul(receiver, 'queue', 'films', '--create');
  const to = `http://127.0.0.1:${receiver.port}/q/films`;
  const rssBefore = [sender, receiver].map(({ pid }) => rss(pid, 'VmRSS'));
  const id = longhaul(sender, 'add', to, '--attach', file).trim();
  const relay = await timeRelay(sender, id);
  const rssMB = [sender, receiver].map(({ pid }, index) => Math.round(rss(pid, 'VmHWM') - rssBefore[index]));
  const rate = await timeSmall(sender, to);
  printFigures({
    megabytes,
    curlMBs: megabytes / curl,
    relayMBs: megabytes / relay,
    ratio: curl / relay,
    rssMB,
    jobsPerSecond: rate,
    isProvisional,
  });
} finally {
  for (const { stop } of nodes) await stop();
  rmSync(folder, { recursive: true, force: true });
}

function makeFile() {
  const path = join(folder, 'film');
  execFileSync('sh', ['-c', `head -c ${megabytes}000000 /dev/urandom > "$1"`, 'sh', path]);
  return path;
}

/** Measures an upload to a server that writes the body to a file and syncs it, as a node does. */
async function timeCurl(file) {
  const server = createServer((request, response) => {
    const received = createWriteStream(join(folder, 'received'), { flush: true });
    pipeline(request, received).then(
      () => response.end(),
      () => response.destroy(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const startedAt = performance.now();
  const child = spawn('curl', ['-sS', '-T', file, `http://127.0.0.1:${server.address().port}/film`], {
    stdio: 'inherit',
  });
  await once(child, 'exit');
  const seconds = (performance.now() - startedAt) / 1_000;
  server.close();
  return seconds;
}

async function startNode(name) {
  const home = join(folder, name);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'node.json'), '{"allowDestinations":["127.0.0.1"]}', { mode: 0o600 });
  const command = [process.execPath, cli, 'serve', '--home', home, '--port', '0', '--log-format', 'pretty'];
  const child = spawn('sh', ['-c', supervisor, 'supervisor', ...command], { stdio: ['pipe', 'pipe', 'inherit'] });
  const stop = async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
  nodes.push({ stop });
  let pid = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    pid ||= Number(/^pid (\d+)$/.exec(line)?.[1] ?? 0);
    const port = Number(/web UI and API.*:(\d+)/.exec(line)?.[1] ?? 0);
    if (port > 0) return { home, pid, port };
  }
  throw new Error(`${name} did not start`);
}

function longhaul({ home }, ...args) {
  return execFileSync(process.execPath, [cli, ...args, '--home', home], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

/** Returns the time from claim to end, from the history of the job: the upload to the sender is not counted. */
async function timeRelay({ port }, id) {
  for (;;) {
    const job = await (await fetch(`http://127.0.0.1:${port}/api/jobs/${id}`)).json();
    if (job.state === 'done') break;
    await sleep(50);
  }
  const { history } = await (await fetch(`http://127.0.0.1:${port}/api/jobs/${id}/history`)).json();
  const at = (event) => history.findLast((row) => row.event === event).at;
  return (at('forwarded') - at('claimed')) / 1_000;
}

async function timeSmall({ port }, to) {
  const jobs = Array.from({ length: smallJobs }, (_, number) => ({ queue: to, data: number }));
  const startedAt = performance.now();
  await fetch(`http://127.0.0.1:${port}/api/jobs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(jobs),
  });
  for (;;) {
    const { queues } = await (await fetch(`http://127.0.0.1:${port}/api/jobs/count?queue=relay`)).json();
    if (queues[0].relayed >= smallJobs) break;
    await sleep(20);
  }
  return smallJobs / ((performance.now() - startedAt) / 1_000);
}

function rss(pid, field) {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

function printFigures(figures) {
  if (values.json) return console.log(JSON.stringify(figures));
  const { curlMBs, relayMBs, ratio, rssMB, jobsPerSecond, isProvisional } = figures;
  print(
    `${megabytes} MB: curl to a file server ${curlMBs.toFixed(0)} MB/s, relay ${relayMBs.toFixed(0)} MB/s: ${ratio.toFixed(2)} ×`,
  );
  print(`memory: sender + ${rssMB[0]} MB, receiver + ${rssMB[1]} MB; small jobs: ${jobsPerSecond.toFixed(0)} a second`);
  const isReached = ratio >= target.ratio && rssMB.every((each) => each <= target.rssMB);
  print(
    `≥ ${target.ratio} ×, RSS + ≤ ${target.rssMB} MB: ${isReached ? 'reached' : 'MISSED'}${isProvisional ? ' (the machine is busy)' : ''}`,
  );
}
