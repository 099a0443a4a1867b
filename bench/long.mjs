/**
 * `npm run bench -- long`: what happens to a long job, beside the peers that have long jobs.
 *
 *   --part <name …>  only these rows: killed, blocked, away, cancel
 *   --seconds <n>    how long the store is away (default 60)
 *   --quick          short times: a functional check, not a measurement
 *   --json           print only the results as JSON
 *   --write          write the table to docs/benchmarks.md, and its chart
 *
 * killed: seconds from SIGKILL of the worker until another worker runs its job again. blocked: how often a job is started
 * whose handler blocks the event loop, beside an idle worker. away: the server of the store is killed while a job runs, and
 * comes back after the job has ended; how often it was started, and seconds from then until it is settled. cancel: seconds
 * from the call until the last process of a script has ended. Defaults everywhere, unless the title says otherwise.
 */
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { contenders } from './frame/contenders.mjs';
import { openEnvironment } from './frame/environment.mjs';
import { longReport } from './frame/long-report.mjs';
import { isBusy, machineFacts } from './frame/machine.mjs';
import { firstLine } from './frame/rounds.mjs';
import { cancelScript } from './suites/cancel-script.mjs';
import { away, blocked, killed } from './suites/long.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const parts = ['killed', 'blocked', 'away', 'cancel'];
const measured = [
  'longhaul-redis',
  'longhaul-sqlite',
  'bullmq',
  'bee-queue',
  'pg-boss',
  'pg-boss-heartbeat',
  'graphile-worker',
];
const { values: options } = parseOptionsOrExit(import.meta.url, {
  options: {
    part: { type: 'string', multiple: true },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
  choices: { part: parts },
  numbers: ['seconds'],
});
const print = options.json ? console.error : console.log;
const awayMs = 1_000 * Number(options.seconds ?? (options.quick ? 6 : 60));
const times = options.quick
  ? { limitMs: 20_000, blockMs: 12_000, awayMs }
  : { limitMs: 120_000, blockMs: 70_000, awayMs };
const postgresBin = process.env.LONGHAUL_POSTGRES_BIN;
const names = measured.filter((name) => postgresBin || contenders[name].store !== 'postgres');

/** Each part returns the result of one contender, or null where the contender cannot have one. */
async function main() {
  const parent = join(root, 'node_modules', '.cache', 'longhaul', 'bench');
  const redisPath = process.env.LONGHAUL_REDIS_SERVER ?? 'redis-server';
  const environment = await openEnvironment({ redisPath, postgresBin, parent });
  const facts = await machineFacts({ ...environment, root });
  const isProvisional = await isBusy();
  const results = Object.fromEntries(names.map((name) => [name, {}]));
  for (const part of parts.filter((each) => options.part?.includes(each) ?? true)) {
    print(`${part} …`);
    const outage = createOutage(environment, names.filter(hasServer).length);
    await Promise.all(
      names.map(async (name) => {
        results[name][part] = await measure({ part, name, environment, outage });
        print(`  ${contenders[name].title.padEnd(28)} ${JSON.stringify(results[name][part])}`);
      }),
    );
    // The next part must not see the jobs of this one.
    await environment.redis.flush();
  }
  await environment.close();
  longReport({ results, facts, options: { ...options, ...times, isProvisional }, root, print });
}

const hasServer = (name) => contenders[name].store !== 'sqlite';

async function measure({ part, name, environment, outage }) {
  // Only a node of Longhaul runs scripts, and only a server can be away.
  if (part === 'cancel') return name === 'longhaul-sqlite' ? attempt(() => cancelScript({ parent: '/var/tmp' })) : null;
  if (part === 'away' && !hasServer(name)) return null;
  const { sides, close } = await environment.openPlace(name);
  const result = await attempt(() => ({ killed, blocked, away })[part](sides, { ...times, outage }));
  await close();
  return result;
}

async function attempt(work) {
  try {
    return await work();
  } catch (error) {
    return { problem: firstLine(error) };
  }
}

/** The servers are away once for all contenders: when each of them has its job running. Returns when they are back. */
function createOutage({ redis, postgres }, expected) {
  let [arrived, onAll] = [0, () => {}];
  const all = new Promise((resolve) => (onAll = resolve));
  const back = all.then(async () => {
    await Promise.all([redis.halt(), postgres?.halt()]);
    await sleep(awayMs);
    await Promise.all([redis.restart(), postgres?.restart()]);
    return Number(process.hrtime.bigint()) / 1e6;
  });
  return () => {
    arrived += 1;
    if (arrived === expected) onAll();
    return back;
  };
}

await main();
