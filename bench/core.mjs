/**
 * `npm run bench -- core`: Longhaul and its peers, side by side in one run.
 *
 *   --quick              small sizes, one round, within three minutes: a functional check, not a measurement
 *   --only redis|sqlite  one store of Longhaul
 *   --part <name …>      only these measurements: add, bulk, work1, work100, priority, tag, delay,
 *                        failing, throttle, processes1, processes2, processes4, pickup, pickupInside, bytes, claim,
 *                        finished, heartbeats
 *   --waiting <n>        the long queue of the claim, add and settle rows (default 1,000,000; 10,000,000 takes three minutes)
 *   --rounds <n>         number of rounds (default 3); a figure is the median of the rounds
 *   --against <folder>   compare this build with the build in another clone, without peers (default 5 rounds)
 *   --json               print only the rows as JSON to stdout
 *   --check              compare the ratios with those of the kept figures (bench/figures.json): exit code 1 if one moved by
 *                        more than the spread of the rounds
 *   --write              keep the figures of the measured parts, and write the tables and charts of docs/benchmarks.md;
 *                        only with both stores and full sizes
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseOptionsOrExit } from '../scripts/usage.mjs';
import { compareBuilds } from './frame/compare-builds.mjs';
import { addOtherBuild, contenders, isOurs, onPostgres } from './frame/contenders.mjs';
import { openEnvironment } from './frame/environment.mjs';
import { createFigures, partOf } from './frame/figures.mjs';
import { checkLines, compareRatios } from './frame/kept-ratios.mjs';
import { isBusy, machineFacts } from './frame/machine.mjs';
import { keptRows, report } from './frame/report.mjs';
import { inTurns } from './frame/rounds.mjs';
import { toRows } from './frame/rows.mjs';
import { bytes } from './suites/bytes.mjs';
import { pickup } from './suites/pickup.mjs';
import { processes } from './suites/processes.mjs';
import { rates } from './suites/rates.mjs';
import { scale } from './suites/scale.mjs';
import { targets } from './targets.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const measurements = [...rates, ...processes, ...pickup, ...bytes, ...scale];
const few = 1_000;
const full = {
  add: 30_000,
  bulk: 100_000,
  work1: 10_000,
  work100: 50_000,
  ordinary: 30_000,
  processes: 50_000,
  pickup: 550,
  pickupEveryMs: 20,
  bytes: 20_000,
  few,
  many: 1_000_000,
  waiting: 1_000_000,
  heartbeatSeconds: 60,
};
const quick = {
  add: 2_000,
  bulk: 10_000,
  work1: 500,
  work100: 4_000,
  ordinary: 2_000,
  processes: 3_000,
  pickup: 120,
  pickupEveryMs: 10,
  bytes: 5_000,
  few,
  many: 10_000,
  waiting: 10_000,
  heartbeatSeconds: 3,
};

async function main() {
  const redisPath = process.env.LONGHAUL_REDIS_SERVER ?? 'redis-server';
  const environment = await openEnvironment({
    redisPath,
    postgresBin: options.names.some((name) => onPostgres.includes(name))
      ? process.env.LONGHAUL_POSTGRES_BIN
      : undefined,
    parent: join(root, 'node_modules', '.cache', 'longhaul', 'bench'),
  });
  const facts = await machineFacts({ ...environment, root });
  const figures = createFigures();
  let isProvisional = await isBusy();
  for (const each of options.measurements) {
    if (!options.quick) isProvisional = (await isBusy()) || isProvisional;
    await measure(each, { environment, figures });
  }
  await environment.close();
  if (options.pairs) return compareBuilds({ figures, facts, options, isProvisional, print });
  const rows = toRows(
    options.specs.filter(({ measure: name }) => options.parts.has(partOf(name))),
    figures,
  );
  const comparison = options.check ? compareRatios(keptRows({ root, specs: options.specs }), rows) : null;
  report({ rows, figures, facts, options, isProvisional, root, print });
  if (comparison) print(`\n${checkLines(comparison).join('\n')}`);
  return rows.some((row) => row.void) || comparison?.moved.length > 0 ? 1 : 0;
}

async function measure({ part, title, names, isSteady, once }, { environment, figures }) {
  print(`${title} …`);
  const onRedis = (name) => contenders[name].store === 'redis';
  await inTurns({
    names: options.names.filter((name) => names.includes(name.replace(/-other$/, ''))),
    // A measurement that hardly varies, or takes minutes to prepare, runs once.
    rounds: isSteady ? 1 : options.rounds,
    figures: figures.section(part),
    print,
    once: (name) =>
      environment.withPlace(name, (place) =>
        once(place, options.sizes, { redis: environment.redis, isRedis: onRedis(name) }),
      ),
  });
}

function parseArguments() {
  const { values } = parseOptionsOrExit(import.meta.url, {
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      only: { type: 'string' },
      against: { type: 'string' },
      part: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      waiting: { type: 'string' },
    },
    choices: { only: ['redis', 'sqlite'], part: measurements.map(({ part }) => part) },
    numbers: ['rounds', 'waiting'],
  });
  const narrowing = ['only', 'quick', 'waiting', 'against'].find((name) => values[name]);
  if (values.write && narrowing) exitWith(`--write keeps whole rows at full size: leave out --${narrowing}.`);
  const stores = ['redis', 'sqlite'].filter((each) => (values.only ?? each) === each);
  const pairs = values.against === undefined ? null : addOtherBuild(otherBuild(values.against), stores);
  const sizes = values.quick ? quick : full;
  const chosenSizes = { ...sizes, waiting: Number(values.waiting ?? sizes.waiting) };
  const chosen = measurements.filter(({ part }) => values.part?.includes(part) ?? true);
  return {
    ...values,
    stores,
    sizes: chosenSizes,
    specs: targets({ stores, sizes: chosenSizes, hasPostgres }),
    rounds: Number(values.rounds ?? (values.quick ? 1 : pairs ? 5 : 3)),
    pairs,
    measurements: chosen,
    parts: new Set(chosen.map(({ part }) => part)),
    hasPostgres,
    names: pairs ? pairs.flatMap(({ name, other }) => [name, other]) : namesFor(stores),
  };
}

function otherBuild(folder) {
  const path = resolve(folder);
  if (existsSync(join(path, 'dist', 'library', 'index.js'))) return path;
  return exitWith(`--against ${folder}: there is no build. Run \`npm run build\` there first.`);
}

function exitWith(problem) {
  process.stderr.write(`${problem}\n`);
  return process.exit(2);
}

/** Returns the chosen stores of Longhaul and all peers: each store is compared with the fastest peer of any kind. */
const namesFor = (stores) =>
  Object.keys(contenders)
    .filter((name) => !isOurs(name) || stores.includes(contenders[name].store))
    .filter((name) => !contenders[name].isLongOnly)
    .filter((name) => hasPostgres || !onPostgres.includes(name));

const hasPostgres = process.env.LONGHAUL_POSTGRES_BIN !== undefined;
const options = parseArguments();
const print = options.json ? (line) => console.error(line) : (line) => console.log(line);
process.exitCode = await main();
