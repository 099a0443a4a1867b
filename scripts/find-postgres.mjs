/**
 * Finds a PostgreSQL server for the tests and benchmarks, or installs Debian's package.
 *
 * Order: POSTGRES_BIN (a directory with initdb, postgres and psql), the newest of /usr/lib/postgresql, PATH, and as root a new
 * installation. Tests and benchmarks start servers of their own from it and use no database of this machine.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages, isRoot, onPath } from './packages.mjs';
import { main, print, run, seconds, UserError } from './script-support.mjs';

const installed = '/usr/lib/postgresql';
const minimum = 14;
const advice = `Install postgresql (${minimum} or newer), or set POSTGRES_BIN to the directory of its programs.`;

/** Returns { bin, version }, or undefined if there is no server; in CI that is an error. */
export async function findPostgres() {
  const found = (await findInstalled()) ?? (await install());
  if (found || process.env.CI !== 'true') return found;
  throw new UserError(`No PostgreSQL server was found, and in CI the tests that need one must run. ${advice}`);
}

async function findInstalled() {
  const { POSTGRES_BIN: given } = process.env;
  if (given) {
    const server = await probe(given);
    if (server) return server;
    throw new UserError(`POSTGRES_BIN is ${given}, which has no PostgreSQL ${minimum} or newer. ${advice}`, {
      exitCode: 2,
    });
  }
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : [];
  const path = onPath('initdb');
  for (const bin of [...versions.map((each) => join(installed, each, 'bin')), ...(path ? [dirname(path)] : [])]) {
    const server = await probe(bin);
    if (server) return server;
  }
  return undefined;
}

/** Accepts a server if its programs exist and it is new enough. */
async function probe(bin) {
  if (!['initdb', 'postgres', 'psql'].every((name) => existsSync(join(bin, name)))) return undefined;
  const { code, output } = await run(join(bin, 'postgres'), ['--version']);
  const version = /(\d+)[.\d]*/.exec(output)?.[0];
  return code === 0 && Number.parseInt(version ?? '0', 10) >= minimum ? { bin, version } : undefined;
}

async function install() {
  if (!isRoot() || !onPath('apt-get')) {
    print(`No PostgreSQL server on this machine, and only root can install Debian's package. ${advice}`);
    return undefined;
  }
  const startedAt = Date.now();
  print('No PostgreSQL server on this machine; installing postgresql …');
  const problem = await installPackages(['postgresql']);
  const server = problem ? undefined : await findInstalled();
  if (server) print(`Installed in ${seconds(Date.now() - startedAt)}.`);
  else print(`The installation failed${problem ? `: ${problem}` : '.'} ${advice}`);
  return server;
}

await main(import.meta.url, async () => {
  const server = await findPostgres();
  if (!server) return 1;
  print(`${server.bin} (${server.version})`);
});
