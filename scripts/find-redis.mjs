/**
 * Finds a Redis or Valkey server for the tests, or downloads one from Debian packages.
 *
 * Order: REDIS_SERVER (a path), valkey-server or redis-server on PATH, the downloaded copy, a new download.
 * As root it installs the package; otherwise it unpacks the package into a cache directory.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackages, isRoot, onPath, tryRun } from './packages.mjs';
import { cacheFolder, main, print, run, UserError } from './script-support.mjs';

const folder = join(cacheFolder, 'redis');
const packages = ['redis-server', 'redis-tools', 'liblzf1', 'libjemalloc2'];
const advice = 'Install redis-server (6.2 or newer) or valkey-server, or set REDIS_SERVER to the path of one.';

/** Returns { path, env, version }, or undefined if there is no server; in CI that is an error. */
export async function findRedis() {
  const found = (await findInstalled()) ?? (await download());
  if (found || process.env.CI !== 'true') return found;
  throw new UserError(`No Redis or Valkey server was found, and in CI the tests that need one must run. ${advice}`);
}

async function findInstalled() {
  if (process.env.REDIS_SERVER) return await requireServer(process.env.REDIS_SERVER);
  for (const name of ['valkey-server', 'redis-server']) {
    const path = onPath(name);
    const server = path && (await probe(path, {}));
    if (server) return server;
  }
  return await probeUnpacked();
}

async function requireServer(path) {
  const server = existsSync(path) && (await probe(path, {}));
  if (server) return server;
  throw new UserError(`REDIS_SERVER is ${path}, which does not run here or is older than 6.2. ${advice}`, {
    exitCode: 2,
  });
}

/** Accepts a server if it starts (its libraries exist) and is new enough. */
async function probe(path, env) {
  const { code, output } = await run(path, ['--version'], { env });
  const [, major, minor, patch] = /v=(\d+)\.(\d+)\.(\d+)/.exec(output) ?? [];
  if (code !== 0 || major === undefined || Number(major) * 100 + Number(minor) < 602) return undefined;
  return { path, env, version: `${major}.${minor}.${patch}` };
}

async function probeUnpacked() {
  const path = join(folder, 'usr', 'bin', 'redis-server');
  if (!existsSync(path)) return undefined;
  return await probe(path, { LD_LIBRARY_PATH: libraryFolders().join(delimiter) });
}

/** Debian keeps libraries in a directory named after the architecture, such as x86_64-linux-gnu. */
function libraryFolders() {
  const bases = [join(folder, 'usr', 'lib'), join(folder, 'lib')].filter(existsSync);
  return bases.flatMap((base) =>
    readdirSync(base)
      .filter((name) => name.includes('-linux-'))
      .map((name) => join(base, name)),
  );
}

async function download() {
  if (!onPath('apt-get') || !onPath('dpkg')) return undefined;
  print('No Redis server on this machine; downloading one …');
  const problem = isRoot() ? await installPackages(['redis-server']) : await unpackPackages();
  const server = problem ? undefined : await findInstalled();
  if (!server) print(`The download failed${problem ? `: ${problem}` : '.'} ${advice}`);
  return server;
}

/** Works without root: apt gets directories of its own, so that it can refresh its package lists. */
async function unpackPackages() {
  rmSync(folder, { recursive: true, force: true });
  const state = join(folder, 'apt');
  mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
  mkdirSync(join(state, 'archives', 'partial'), { recursive: true });
  const options = ['-qq', '-o', `Dir::State::lists=${join(state, 'lists')}`, '-o', `Dir::Cache=${state}`];
  const problem =
    (await tryRun('apt-get', ['download', '-qq', ...packages], { cwd: folder })) &&
    ((await tryRun('apt-get', [...options, 'update'])) ??
      (await tryRun('apt-get', [...options, 'download', ...packages], { cwd: folder })));
  if (problem) return problem;
  for (const name of readdirSync(folder).filter((each) => each.endsWith('.deb'))) {
    const failure = await tryRun('dpkg', ['-x', join(folder, name), folder]);
    if (failure) return failure;
    rmSync(join(folder, name));
  }
  rmSync(state, { recursive: true, force: true });
  return undefined;
}

await main(import.meta.url, async () => {
  const server = await findRedis();
  if (!server) return 1;
  print(`${server.path} (${server.version})`);
  for (const [name, value] of Object.entries(server.env)) print(`${name}=${value}`);
});
