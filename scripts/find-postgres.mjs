/**
 * Finds a PostgreSQL server for the benchmarks, or installs one from Debian packages.
 *
 * Order: POSTGRES_BIN (the directory of initdb and postgres), Debian's directories (the newest version), PATH.
 * As root it installs the package `postgresql`; otherwise it prints what to install.
 */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { installPackages, isRoot, onPath } from './packages.mjs';
import { main, print, run, UserError } from './script-support.mjs';

const debianFolder = '/usr/lib/postgresql';
const oldest = 13;
const advice = `Install postgresql (${oldest} or newer), or set POSTGRES_BIN to the directory of its initdb.`;

/** Returns { bin, version }, or undefined if there is no server. */
export async function findPostgres() {
  return (await findInstalled()) ?? (await install());
}

async function findInstalled() {
  if (process.env.POSTGRES_BIN) return await requireServer(process.env.POSTGRES_BIN);
  for (const bin of candidates()) {
    const server = await probe(bin);
    if (server) return server;
  }
  return undefined;
}

function candidates() {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).map(Number).filter(Boolean) : [];
  const debian = versions.toSorted((a, b) => b - a).map((version) => join(debianFolder, String(version), 'bin'));
  const initdb = onPath('initdb');
  return initdb ? [...debian, dirname(initdb)] : debian;
}

async function requireServer(bin) {
  const server = await probe(bin);
  if (server) return server;
  throw new UserError(`POSTGRES_BIN is ${bin}, which has no PostgreSQL ${oldest} or newer that runs here. ${advice}`, {
    exitCode: 2,
  });
}

/** Accepts a directory with all three programs if the server starts (its libraries exist) and is new enough. */
async function probe(bin) {
  if (!['initdb', 'postgres', 'psql'].every((name) => existsSync(join(bin, name)))) return undefined;
  const { code, output } = await run(join(bin, 'postgres'), ['--version']);
  const [, version, major] = /\) ((\d+)[.\d]*)/.exec(output) ?? [];
  return code === 0 && Number(major) >= oldest ? { bin, version } : undefined;
}

async function install() {
  const canInstall = isRoot() && onPath('apt-get');
  if (!canInstall) return print(`No PostgreSQL server on this machine. ${advice}`);
  print('No PostgreSQL server on this machine; installing one …');
  const problem = await installPackages(['postgresql']);
  const server = problem ? undefined : await findInstalled();
  if (!server) print(`The installation failed${problem ? `: ${problem}` : '.'} ${advice}`);
  return server;
}

await main(import.meta.url, async () => {
  const server = await findPostgres();
  if (!server) return 1;
  print(`${server.bin} (${server.version})`);
});
