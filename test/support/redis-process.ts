/**
 * A real Redis or Valkey server as a process: on a free loopback port, with a directory of its own, always removed. It
 * must not import vitest, because the chaos harness runs without it.
 */
import { accessSync, constants } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GuardedProcess, spawnGuarded } from './guarded-process.ts';

export interface RedisOptions {
  /** The append-only file is on; this sets how often it is synced. Default: `everysec`. */
  readonly appendfsync?: 'always' | 'everysec' | 'no';
  /** One node that owns all slots of a cluster; or a node that joins others later and owns none yet. */
  readonly cluster?: boolean | 'bare';
  /** Starts a Sentinel, which watches the primary that these lines name. */
  readonly sentinel?: Readonly<Record<string, string>>;
  /** Further lines of redis.conf; they take precedence. */
  readonly config?: Readonly<Record<string, string>>;
  /** Further variables of the server's environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Another process id after `restart`. */
  readonly pid: number;
  readonly dir: string;
  /** Ends the server and removes its directory. Can be called twice. */
  stop(): Promise<void>;
  /** Ends the server as a power cut would, as far as its process is concerned; the directory stays for `restart`. */
  kill9(): Promise<void>;
  /** Ends the server in good order if it runs, and starts it again on the same port and directory. */
  restart(): Promise<void>;
}

const startDeadlineMs = 30_000;
const portTries = 8;
// The bus of a cluster listens 10,000 above; both stay below the ports that the system assigns.
const ports = { lowest: 10_500, count: 11_000, bus: 10_000 };

const serverPath = process.env['LONGHAUL_REDIS_SERVER'] ?? onPath('valkey-server') ?? onPath('redis-server');

/** Whether a server is available. */
export const hasRedis = serverPath !== undefined;

export async function startRedis(options: RedisOptions = {}): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'longhaul-redis-'));
  let port = await findPort();
  let server = await startOnFreePort().catch(async (error: unknown) => {
    await remove(dir);
    throw error;
  });

  async function startOnFreePort(): Promise<GuardedProcess> {
    for (let tries = 1; ; tries += 1) {
      await writeConfig(dir, port, options);
      try {
        return await launch(dir, port, options);
      } catch (error) {
        if (tries === portTries || !String(error).includes('Address already in use')) throw error;
        port = await findPort();
      }
    }
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    server.signal(signal);
    await server.ended;
  }

  return {
    dir,
    get url() {
      return `redis://127.0.0.1:${port}`;
    },
    get port() {
      return port;
    },
    get pid() {
      return server.pid;
    },
    kill9: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGKILL');
      await remove(dir);
    },
    restart: async () => {
      await end('SIGTERM');
      server = await launch(dir, port, options);
    },
  };
}

/** A child that a killed server forked to rewrite its log may write there a moment longer. */
const remove = (dir: string): Promise<void> =>
  rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });

function onPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function writeConfig(dir: string, port: number, options: RedisOptions): Promise<void> {
  const ofServer: Record<string, string> = {
    save: '""',
    appendonly: 'yes',
    appendfsync: options.appendfsync ?? 'everysec',
    ...(options.cluster ? { 'cluster-enabled': 'yes', 'cluster-announce-ip': '127.0.0.1' } : {}),
    ...options.config,
  };
  const settings: Record<string, string> = {
    bind: '127.0.0.1',
    port: String(port),
    dir,
    daemonize: 'no',
    logfile: join(dir, 'server.log'),
    ...(options.sentinel ?? ofServer),
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
  await writeFile(join(dir, 'redis.conf'), lines.join(''));
}

/** Starts the server in its directory and waits until it answers, with all slots if it is a cluster. */
async function launch(dir: string, port: number, options: RedisOptions): Promise<GuardedProcess> {
  if (serverPath === undefined) {
    throw new Error('There is no Redis server: put redis-server on PATH, or set LONGHAUL_REDIS_SERVER to its path.');
  }
  const mode = options.sentinel === undefined ? [] : ['--sentinel'];
  const server = await spawnGuarded(serverPath, [join(dir, 'redis.conf'), ...mode], {
    cwd: dir,
    folder: dir,
    env: { ...process.env, ...options.env },
  });
  server.stdout.resume();
  server.stderr.resume();
  try {
    await waitFor(server, port, async () => (await ask(port, 'INFO server')).includes(`process_id:${server.pid}\r\n`));
    await waitFor(server, port, async () => (await ask(port, 'PING')) === 'PONG');
    if (options.cluster === true) await joinCluster(server, port);
    return server;
  } catch (error) {
    server.signal('SIGKILL');
    await server.ended;
    const log = await readFile(join(dir, 'server.log'), 'utf8').catch(() => '');
    throw new Error(`The Redis server did not start: ${String(error)}\n${log.slice(-2_000)}`, { cause: error });
  }
}

async function joinCluster(server: GuardedProcess, port: number): Promise<void> {
  const isReady = async () => (await ask(port, 'CLUSTER INFO')).includes('cluster_state:ok');
  if (!(await ask(port, 'CLUSTER INFO')).includes('cluster_slots_assigned:16384')) await addAllSlots(port);
  await waitFor(server, port, isReady);
}

/** ADDSLOTSRANGE needs Redis 7; before it, slots are named one by one. */
async function addAllSlots(port: number): Promise<void> {
  if ((await ask(port, 'CLUSTER ADDSLOTSRANGE 0 16383')) === 'OK') return;
  for (let first = 0; first < 16_384; first += 1_024) {
    const slots = Array.from({ length: 1_024 }, (_, index) => first + index);
    await ask(port, `CLUSTER ADDSLOTS ${slots.join(' ')}`);
  }
}

async function waitFor(server: GuardedProcess, port: number, condition: () => Promise<boolean>): Promise<void> {
  const deadlineAt = Date.now() + startDeadlineMs;
  while (!(await condition().catch(() => false))) {
    if (!server.isAlive) throw new Error('the server ended at once');
    if (Date.now() > deadlineAt) throw new Error(`no answer on port ${port} for ${startDeadlineMs} ms`);
    await sleep(10);
  }
}

/** Sends one inline command on a connection of its own. Returns the text of the reply, errors included. */
export function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    let received = '';
    socket.setTimeout(2_000, () => socket.destroy(new Error('no reply')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('closed without a reply')));
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      const reply = readReply(received);
      if (reply === undefined) return;
      resolve(reply);
      socket.destroy();
    });
  });
}

/** Reads `+OK`, `-ERR …`, `:1` and `$5 hello`; undefined while the reply is incomplete. */
function readReply(received: string): string | undefined {
  const lineEnd = received.indexOf('\r\n');
  if (lineEnd < 0) return undefined;
  const line = received.slice(1, lineEnd);
  if (!received.startsWith('$')) return line;
  const start = lineEnd + 2;
  const end = start + Number(line);
  return received.length < end + 2 ? undefined : received.slice(start, end);
}

export async function findPort(): Promise<number> {
  for (;;) {
    const port = ports.lowest + Math.floor(Math.random() * ports.count);
    if ((await isFree(port)) && (await isFree(port + ports.bus))) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
