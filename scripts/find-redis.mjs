/**
 * Finds a Redis or Valkey server for the tests, and fetches one from Debian's packages when there is none.
 *
 * Order: REDIS_SERVER (a path), valkey-server or redis-server on PATH, the copy fetched earlier, a new copy.
 * As root the package is installed; otherwise it is unpacked into a cache folder and installed nowhere.
 */
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { installPackages, isRoot, onPath, tryRun } from './packages.mjs';
import { cacheFolder, main, run, say, Trouble } from './script-support.mjs';

const folder = join(cacheFolder, 'redis');
const packages = ['redis-server', 'redis-tools', 'liblzf1', 'libjemalloc2'];
const advice = 'Install redis-server (6.2 or newer) or valkey-server, or set REDIS_SERVER to the path of one.';

/** Answers { path, env, version }, or undefined when there is none to be had; in CI that is an error. */
export async function findRedis() {
  const found = (await findInstalled()) ?? (await fetchOne());
  if (found || process.env.CI !== 'true') return found;
  throw new Trouble(`No Redis or Valkey server was found, and in CI the tests that need one must run. ${advice}`);
}

async function findInstalled() {
  if (process.env.REDIS_SERVER) return await checkNamed(process.env.REDIS_SERVER);
  for (const name of ['valkey-server', 'redis-server']) {
    const path = onPath(name);
    const server = path && (await probe(path, {}));
    if (server) return server;
  }
  return await probeUnpacked();
}

async function checkNamed(path) {
  const server = existsSync(path) && (await probe(path, {}));
  if (server) return server;
  throw new Trouble(
    `REDIS_SERVER is ${path}, which is not a server of version 6.2 or newer that runs here. ${advice}`,
    {
      exitCode: 2,
    },
  );
}

/** A server counts when it starts at all (its libraries are there) and is new enough. */
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

/** Debian keeps libraries in a folder named after the machine, such as x86_64-linux-gnu. */
function libraryFolders() {
  const bases = [join(folder, 'usr', 'lib'), join(folder, 'lib')].filter(existsSync);
  return bases.flatMap((base) =>
    readdirSync(base)
      .filter((name) => name.includes('-linux-'))
      .map((name) => join(base, name)),
  );
}

async function fetchOne() {
  if (!onPath('apt-get') || !onPath('dpkg')) return undefined;
  say('No Redis server on this machine; fetching one …');
  const problem = isRoot() ? await installPackages(['redis-server']) : await unpackPackages();
  const server = problem ? undefined : await findInstalled();
  if (!server) say(`That did not work${problem ? `: ${problem}` : '.'} ${advice}`);
  return server;
}

/** Needs no rights: apt is given folders of its own, so that it can also refresh its lists. */
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
  say(`${server.path} (${server.version})`);
  for (const [name, value] of Object.entries(server.env)) say(`${name}=${value}`);
});
