/**
 * A real PostgreSQL server for one test file: on a socket in a directory of its own, always removed. PostgreSQL refuses to
 * run as root, so root starts it as an unprivileged user.
 */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe } from 'vitest';
import { type GuardedProcess, spawnGuarded } from './guarded-process.ts';

export interface PostgresServer {
  readonly url: string;
  /** Ends the server and removes its directory. Can be called twice. */
  stop(): Promise<void>;
  /** Ends the server as a crash would; the directory stays for `restart`. */
  kill9(): Promise<void>;
  /** Ends the server in good order if it runs, and starts it again on the same socket and directory. */
  restart(): Promise<void>;
}

const installed = '/usr/lib/postgresql';
const startDeadlineMs = 30_000;
/** The user and group `nobody` of every Linux system. */
const unprivileged = 65_534;
const isRoot = process.getuid?.() === 0;

const bin = process.env['LONGHAUL_POSTGRES_BIN'] ?? newestBin();

/** Whether a server is available. A suite that needs one uses `describeWithPostgres`; skipped tests are counted. */
const hasPostgres = bin !== undefined;
export const describeWithPostgres = describe.skipIf(!hasPostgres);

function newestBin(): string | undefined {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const bins = versions.toSorted((a, b) => Number(b) - Number(a)).map((version) => join(installed, version, 'bin'));
  return bins.find((each) => existsSync(join(each, 'postgres')));
}

/** `isSynced`: every commit waits for the disk, as on a real server. Otherwise commits survive the process only. */
export async function startPostgres({ isSynced = false } = {}): Promise<PostgresServer> {
  const dir = await mkdtemp(join(tmpdir(), 'longhaul-pg-'));
  const remove = (): Promise<void> => rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  let server: GuardedProcess;
  try {
    if (isRoot) await chown(dir, unprivileged, unprivileged);
    await createCluster(dir, isSynced);
    server = await launch(dir);
  } catch (error) {
    await remove();
    throw error;
  }
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    server.signal(signal);
    await server.ended;
  };
  return {
    url: `postgres://longhaul@localhost/postgres?host=${encodeURIComponent(dir)}`,
    kill9: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGINT');
      await remove();
    },
    restart: async () => {
      await end('SIGINT');
      server = await launch(dir);
    },
  };
}

/** Returns a program with its arguments, run by a user that PostgreSQL accepts. */
function asUser(program: string, args: readonly string[]): readonly [string, readonly string[]] {
  if (bin === undefined)
    throw new Error('There is no PostgreSQL: install the package postgresql, or set LONGHAUL_POSTGRES_BIN.');
  const path = join(bin, program);
  if (!isRoot) return [path, args];
  return ['setpriv', [`--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups', path, ...args]];
}

async function createCluster(dir: string, isSynced: boolean): Promise<void> {
  const data = join(dir, 'data');
  const flags = ['--no-sync', '--auth=trust', '--username=longhaul', '--encoding=UTF8', '--locale=C'];
  const [program, args] = asUser('initdb', ['-D', data, ...flags]);
  await promisify(execFile)(program, args, { cwd: dir });
  const settings = {
    listen_addresses: "''",
    unix_socket_directories: `'${dir}'`,
    fsync: isSynced ? 'on' : 'off',
    shared_buffers: '16MB',
    max_connections: '30',
    jit: 'off',
    log_destination: 'stderr',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  await writeFile(join(data, 'postgresql.auto.conf'), lines.join(''));
}

/** Starts the server in its directory and waits until it accepts connections. */
async function launch(dir: string): Promise<GuardedProcess> {
  const [program, args] = asUser('postgres', ['-D', join(dir, 'data')]);
  const server = await spawnGuarded(program, args, { cwd: dir, folder: dir });
  let log = '';
  server.stdout.resume();
  server.stderr.on('data', (chunk: Buffer) => (log = (log + chunk.toString()).slice(-2_000)));
  const deadlineAt = Date.now() + startDeadlineMs;
  while (!(await isReady(dir))) {
    if (server.isAlive && Date.now() < deadlineAt) {
      await sleep(10);
      continue;
    }
    server.signal('SIGKILL');
    await server.ended;
    throw new Error(`The PostgreSQL server did not start:\n${log}`);
  }
  return server;
}

/** The last line of its pid file says `ready` once it accepts connections. */
async function isReady(dir: string): Promise<boolean> {
  const text = await readFile(join(dir, 'data', 'postmaster.pid'), 'utf8').catch(() => '');
  return (text.split('\n')[7] ?? '').startsWith('ready');
}

/** A pool of the package `pg`, as far as tests use it. */
export interface TestPool {
  connect(): Promise<TestClient>;
  query(sql: string, parameters?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  end(): Promise<void>;
}
export interface TestClient {
  query(sql: string, parameters?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
  on(event: 'notification' | 'error' | 'end', listener: (detail?: unknown) => void): unknown;
  off(event: 'notification' | 'error' | 'end', listener: (detail?: unknown) => void): unknown;
  release(error?: Error | boolean): void;
}

export function openPool({ url }: Pick<PostgresServer, 'url'>): TestPool {
  const { Pool } = createRequire(import.meta.url)('pg') as {
    Pool: new (options: object) => TestPool & NodeJS.EventEmitter;
  };
  const pool = new Pool({ connectionString: url });
  // A server that is stopped ends idle connections; the tests look at the statements.
  pool.on('error', () => undefined);
  return pool;
}
