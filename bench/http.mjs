/**
 * `npm run bench -- http`: the HTTP API of a node. Rates of add, find and list; then the latency of an add at 200 a second
 * with 10,000 open connections, some of them with headers that never end.
 *
 *   --connections N  number of connections (default 10,000)
 *   --seconds N      duration of the adds (default 30)
 *   --quick          1,000 connections for 5 s, and fewer calls
 *   --json           print only the figures as JSON to stdout
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { makeHome, startNode } from '../scripts/served-node.mjs';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { isBusy } from './frame/machine.mjs';

const { values } = parseOptionsOrExit(import.meta.url, {
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    connections: { type: 'string' },
    seconds: { type: 'string' },
  },
  numbers: ['connections', 'seconds'],
});
const print = values.json ? console.error : console.log;
const connections = Number(values.connections ?? (values.quick ? 1_000 : 10_000));
const seconds = Number(values.seconds ?? (values.quick ? 5 : 30));
const inFlight = 64;
const calls = values.quick ? 500 : 10_000;
const perSecond = 200;
const targets = { addP99Ms: 250, rssMB: 300 };

async function main() {
  const isProvisional = await isBusy();
  const node = await startNode(makeHome('bench-http'));
  try {
    const rates = await measureRates(node.port);
    const rssBefore = rssOf(node.pid);
    const crowd = await startCrowd(node.port);
    const rssWithCrowd = rssOf(node.pid);
    const adds = await addAtSteadyRate(node.port);
    const figures = {
      rates,
      crowd: crowd.last(),
      adds,
      rssMB: { before: rssBefore, withCrowd: rssWithCrowd, during: rssOf(node.pid), most: peakRssOf(node.pid) },
      isProvisional,
    };
    await crowd.stop();
    printFigures(figures);
  } finally {
    await node.stop();
  }
}

/** Measures calls a second with a fixed number in flight, over kept-alive connections. */
async function measureRates(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: inFlight });
  const rate = async (make, times = calls) => {
    const startedAt = performance.now();
    let next = 0;
    const one = async () => {
      while (next < times) await call(port, { agent, ...make((next += 1)) });
    };
    await Promise.all(Array.from({ length: inFlight }, one));
    return Math.round(times / ((performance.now() - startedAt) / 1_000));
  };
  const rates = {
    add: await rate((n) => ({
      method: 'POST',
      path: '/api/jobs',
      body: { id: `job-${n}`, queue: 'bench', data: { n } },
    })),
    find: await rate((n) => ({ method: 'GET', path: `/api/jobs/job-${n}` })),
    list: await rate(() => ({ method: 'GET', path: '/api/jobs?queue=bench&limit=50' }), calls / 20),
  };
  agent.destroy();
  return rates;
}

/** Starts each add at its scheduled time, and measures latency from that time, however long earlier adds take. */
async function addAtSteadyRate(port) {
  const agent = new Agent({ keepAlive: true });
  const took = [];
  const errors = [];
  const startedAt = performance.now();
  const pending = Array.from({ length: perSecond * seconds }, async (_, n) => {
    const dueAt = startedAt + (n * 1_000) / perSecond;
    await sleep(Math.max(0, dueAt - performance.now()));
    try {
      await call(port, {
        agent,
        method: 'POST',
        path: '/api/jobs',
        body: { id: `steady-${n}`, queue: 'bench', data: { n } },
      });
      took.push(performance.now() - dueAt);
    } catch (error) {
      errors.push(error.message);
    }
  });
  await Promise.all(pending);
  agent.destroy();
  took.sort((a, b) => a - b);
  const at = (share) => Number((took[Math.floor(took.length * share)] ?? Number.NaN).toFixed(1));
  return {
    count: took.length,
    errors: errors.length,
    first: errors[0] ?? null,
    p50: at(0.5),
    p99: at(0.99),
    most: at(0.9999),
  };
}

function call(port, { agent, method, path, body }) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers =
      text === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers }, (answer) => {
      answer.resume();
      answer.once('error', reject);
      answer.once('end', () => {
        if (answer.statusCode < 300) resolve();
        else reject(new Error(`${method} ${path}: ${answer.statusCode}`));
      });
    });
    sent.once('error', reject);
    sent.end(text);
  });
}

/** Resolves when all connections are open. */
async function startCrowd(port) {
  const program = fileURLToPath(new URL('http-crowd.mjs', import.meta.url));
  const child = spawn(process.execPath, [program, String(port), String(connections)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let last = { open: 0 };
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => (last = JSON.parse(line)));
  for (let waited = 0; last.open < connections * 0.99; waited += 1) {
    if (waited > 120) throw new Error(`only ${last.open} of ${connections} connections opened`);
    await sleep(500);
  }
  return {
    last: () => last,
    async stop() {
      child.stdin.end();
      await once(child, 'exit');
    },
  };
}

const statusOf = (pid, name) =>
  Math.round(
    Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024,
  );
const rssOf = (pid) => statusOf(pid, 'VmRSS');
const peakRssOf = (pid) => statusOf(pid, 'VmHWM');

function printFigures(figures) {
  const { rates, crowd, adds, rssMB, isProvisional } = figures;
  const isReached =
    adds.errors === 0 && adds.p99 < targets.addP99Ms && rssMB.most < targets.rssMB && crowd.open > connections * 0.9;
  if (isProvisional) print('PROVISIONAL: something else was running on this machine.');
  print(`calls a second, ${inFlight} in flight: add ${rates.add}, find ${rates.find}, list of 50 ${rates.list}`);
  print(
    `${connections} connections: ${crowd.open} open, ${crowd.slow} of them slow, ${crowd.hungUp} closed by the server and reopened`,
  );
  print(
    `${adds.count} adds at ${perSecond}/s: ${adds.errors} errors${adds.first === null ? '' : ` (${adds.first})`}, p50 ${adds.p50} ms, p99 ${adds.p99} ms, max ${adds.most} ms`,
  );
  print(
    `RSS of the node: ${rssMB.before} MB before, ${rssMB.withCrowd} MB with all connections, ${rssMB.during} MB during the adds, ${rssMB.most} MB peak`,
  );
  print(`no error, p99 < ${targets.addP99Ms} ms, RSS < ${targets.rssMB} MB: ${isReached ? 'reached' : 'MISSED'}`);
  if (values.json) process.stdout.write(`${JSON.stringify({ ...figures, isReached }, null, 2)}\n`);
}

await main();
