/**
 * `npm run bench [-- name …]`: prepares the repository, then runs bench/<name>.mjs (default: core) with the other arguments.
 *
 * The peers (other queues) are packages of bench/ only and are installed there when they are missing.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPostgres } from './find-postgres.mjs';
import { findRedis } from './find-redis.mjs';
import { helpText, main, print, root, run, seconds, UserError, wantsHelp } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { usageError } from './usage.mjs';

const folder = join(root, 'bench');
/** Benchmarks of Longhaul alone, without Redis. */
const withoutPeers = new Set(['http', 'web', 'relay']);
/** Benchmarks with a Redis server, but without peers. */
const withRedisAlone = new Set(['qless', 'retention']);
/** Benchmarks with peers on PostgreSQL. */
const withPostgres = new Set(['core', 'long']);

await main(import.meta.url, measure, { hasHelp: false });

async function measure(args) {
  const [name, rest] = args[0] && !args[0].startsWith('-') ? [args[0], args.slice(1)] : ['core', args];
  const program = join(folder, `${name}.mjs`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs'));
  const names = files
    .map((file) => file.slice(0, -'.mjs'.length))
    .filter(isProgram)
    .join(', ');
  if (!isProgram(name)) throw usageError(import.meta.url, `There is no benchmark ${name}. Benchmarks: ${names}.`);
  if (wantsHelp(args)) {
    print(args[0] === name ? helpText(program) : `${helpText(fileURLToPath(import.meta.url))}\n\nBenchmarks: ${names}`);
    return 0;
  }
  // With --json, stdout carries only the rows.
  if (rest.includes('--json')) console.log = console.error;
  await setUp({ allowTypeErrors: true });
  const env = withoutPeers.has(name)
    ? {}
    : await prepare({ hasPeers: !withRedisAlone.has(name), hasPostgres: withPostgres.has(name) });
  return (await run(process.execPath, [program, ...rest], { show: true, env })).code;
}

/** Returns whether the file is a benchmark and not a part of one: the help of a benchmark begins with its command. */
function isProgram(name) {
  const path = join(folder, `${name}.mjs`);
  return existsSync(path) && helpText(path).startsWith(`\`npm run bench -- ${name}\``);
}

async function prepare({ hasPeers, hasPostgres }) {
  if (hasPeers) await installPeers();
  const redis = await findRedis();
  if (!redis) throw new UserError('The benchmarks need a Redis server (see above).', { exitCode: 2 });
  const postgres = hasPostgres ? await findPostgres() : undefined;
  return {
    LONGHAUL_REDIS_SERVER: redis.path,
    ...redis.env,
    // Without it, the peers on PostgreSQL are left out.
    ...(postgres && { LONGHAUL_POSTGRES_BIN: postgres.bin }),
  };
}

async function installPeers() {
  if (isInstalled()) return;
  const startedAt = Date.now();
  print('Installing the peers into bench/node_modules; compiling better-sqlite3 can take a minute or two …');
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { code, output } = await run(npm, ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  if (code !== 0) throw new UserError('`npm ci` in bench/ failed (see above).', { output });
  print(`Installed in ${seconds(Date.now() - startedAt)}.`);
}

/** Compares npm's record of installed packages with the versions in bench/package.json. */
function isInstalled() {
  const record = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(dependencies).every(
    ([name, version]) => installed[`node_modules/${name}`]?.version === version,
  );
}
