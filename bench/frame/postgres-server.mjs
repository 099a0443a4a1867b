/**
 * A PostgreSQL server for one run, in a directory of its own that `stop` removes: loopback on a free port and a Unix socket.
 *
 * Durable: fsync and synchronous_commit are on. Checkpoints are far apart, because one could fall into a measurement;
 * `recreate` makes one in between. PostgreSQL refuses to run as root, so root runs it as the user postgres or nobody.
 * It needs no package besides PostgreSQL: statements go through psql.
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

const startTries = 400;
const stepMs = 25;
/** Where the data goes if the unprivileged user cannot reach the directory of the run. */
const publicParent = '/var/tmp';
const superuser = 'bench';

/** Starts a server; `bin` is the directory of initdb, postgres and psql. */
export async function startPostgres({ bin, parent }) {
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(user === undefined || canReach(parent) ? parent : publicParent, 'postgres-'));
  const [data, sockets] = [join(folder, 'data'), join(folder, 's')];
  mkdirSync(sockets);
  chmodSync(folder, 0o755);
  if (user) for (const each of [folder, sockets]) chownSync(each, user.uid, user.gid);
  const as = { ...user, cwd: folder, env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' } };
  try {
    const options = ['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    execFileSync(join(bin, 'initdb'), options, { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
    const port = await freePort();
    writeFileSync(join(data, 'postgresql.auto.conf'), config({ port, sockets }));
    const server = await launch({ bin, data, port, as });
    return session({ bin, data, port, as, folder, server });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

function session({ bin, data, port, as, folder, server: first }) {
  let server = first;
  const query = (sql, database = 'postgres') => runQuery({ bin, port, as }, { sql, database });
  const halt = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    // SIGQUIT stops the server and all its processes at once, like a crash.
    server.kill('SIGQUIT');
    await ended;
  };
  return {
    port,
    folder,
    url: (database) => `postgres://${superuser}@127.0.0.1:${port}/${database}`,
    query,
    version: async () => (await query('show server_version')).split(' ')[0],
    /** Gives the database a new, empty life, and waits until everything is written. */
    recreate: async (database) => {
      await query(`drop database if exists ${database} with (force)`);
      await query(`create database ${database}`);
      await query('checkpoint');
    },
    /** Stops the server as a crash does; `restart` starts it again with its data. */
    halt,
    restart: async () => {
      server = await launch({ bin, data, port, as });
    },
    /** For the end of this process, which cannot await anything: waits for the server, whose last act removes its file. */
    kill: () => {
      server.kill('SIGQUIT');
      for (let tries = 0; tries < startTries && existsSync(join(data, 'postmaster.pid')); tries += 1) pause(stepMs);
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: stepMs });
    },
    stop: async () => {
      await halt();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const pause = (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const config = ({ port, sockets }) =>
  [
    "listen_addresses = '127.0.0.1'",
    `port = ${port}`,
    `unix_socket_directories = '${sockets}'`,
    'fsync = on',
    'synchronous_commit = on',
    'full_page_writes = on',
    "shared_buffers = '512MB'",
    "max_wal_size = '8GB'",
    "checkpoint_timeout = '1h'",
    'max_connections = 200',
    '',
  ].join('\n');

async function launch({ bin, data, port, as }) {
  const server = spawn(join(bin, 'postgres'), ['-D', data], { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  server.stderr.on('data', (chunk) => (output = (output + chunk).slice(-2_000)));
  for (let tries = 1; ; tries += 1) {
    try {
      await runQuery({ bin, port, as }, { sql: 'select 1', database: 'postgres' });
      return server;
    } catch (error) {
      if (tries < startTries && server.exitCode === null && server.signalCode === null) await sleep(stepMs);
      else throw new Error(`The PostgreSQL server did not start: ${output.trim() || error.message}`, { cause: error });
    }
  }
}

async function runQuery({ bin, port, as }, { sql, database }) {
  const connection = ['-h', '127.0.0.1', '-p', String(port), '-U', superuser, '-d', database];
  const { stdout } = await promisify(execFile)(
    join(bin, 'psql'),
    ['-X', '-q', '-A', '-t', ...connection, '-c', sql],
    as,
  );
  return stdout.trim();
}

/** Returns { uid, gid } if this process is root, and undefined otherwise. */
function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (flag, name) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: id('-u', name), gid: id('-g', name) };
    } catch {
      // No such user: the next one.
    }
  }
  throw new Error('PostgreSQL does not run as root, and there is neither a user postgres nor a user nobody.');
}

/** Returns whether every user may enter the directory and its parents. */
function canReach(folder) {
  for (let each = folder; ; each = dirname(each)) {
    if ((statSync(each).mode & 0o001) === 0) return false;
    if (each === dirname(each)) return true;
  }
}
