/**
 * `npm run bench [-- name …]`: makes things ready, then runs bench/<name>.mjs (default: core) with the other arguments.
 *
 * The peers are packages of bench/ alone and are installed there when they are missing; the product never sees them.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findRedis } from './find-redis.mjs';
import { helpOf, isHelpAsked, main, root, run, say, seconds, Trouble } from './script-support.mjs';
import { setUp } from './setup.mjs';
import { wrongUse } from './usage.mjs';

const folder = join(root, 'bench');
/** These measure Longhaul alone, without Redis. */
const withoutPeers = new Set(['http', 'web', 'relay']);
/** And this with a Redis server, but without the peers. */
const withRedisAlone = new Set(['retention']);

await main(import.meta.url, measure, { hasHelp: false });

async function measure(args) {
  const [name, rest] = args[0] && !args[0].startsWith('-') ? [args[0], args.slice(1)] : ['core', args];
  const program = join(folder, `${name}.mjs`);
  const files = readdirSync(folder).filter((file) => file.endsWith('.mjs'));
  const there = files
    .map((file) => file.slice(0, -'.mjs'.length))
    .filter(isProgram)
    .join(', ');
  if (!isProgram(name)) throw wrongUse(import.meta.url, `There is no benchmark ${name}; there are ${there}.`);
  if (isHelpAsked(args)) {
    say(args[0] === name ? helpOf(program) : `${helpOf(fileURLToPath(import.meta.url))}\n\nThere are: ${there}`);
    return 0;
  }
  // Whoever reads the rows from stdout wants nothing else there.
  if (rest.includes('--json')) console.log = console.error;
  await setUp({ allowTypeErrors: true });
  const env = withoutPeers.has(name) ? {} : await prepare({ hasPeers: !withRedisAlone.has(name) });
  return (await run(process.execPath, [program, ...rest], { show: true, env })).code;
}

/** One of its own, and not a part of another: its help says how it is called. */
function isProgram(name) {
  const path = join(folder, `${name}.mjs`);
  return existsSync(path) && helpOf(path).startsWith(`\`npm run bench -- ${name}\``);
}

async function prepare({ hasPeers }) {
  if (hasPeers) await installPeers();
  const redis = await findRedis();
  if (!redis) throw new Trouble('The benchmarks need a Redis server (above).', { exitCode: 2 });
  return { LONGHAUL_REDIS_SERVER: redis.path, ...redis.env };
}

async function installPeers() {
  if (isInstalled()) return;
  const startedAt = Date.now();
  say(
    'Installing the peers into bench/node_modules; better-sqlite3 may have to be compiled, which takes a minute or two …',
  );
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
  const { code, output } = await run(npm, ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  if (code !== 0) throw new Trouble('`npm ci` in bench/ failed (above).', { output });
  say(`Installed in ${seconds(Date.now() - startedAt)}.`);
}

/** npm keeps a record of what it installed; the peers themselves must have the versions that bench/package.json names. */
function isInstalled() {
  const record = join(folder, 'node_modules', '.package-lock.json');
  if (!existsSync(record)) return false;
  const installed = JSON.parse(readFileSync(record, 'utf8')).packages;
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return Object.entries(dependencies).every(
    ([name, version]) => installed[`node_modules/${name}`]?.version === version,
  );
}
