/**
 * A real RQ: a copy of a checkout of brightroll/rq 1.18.3 (commit d417f5f), installed and started as its own scripts do
 * it. RQ_CHECKOUT names the checkout, which is never changed. Needs ruby and ruby-webrick of Debian 12.
 *
 *     git clone https://github.com/brightroll/rq && RQ_CHECKOUT=$PWD/rq npx vitest run --project compat real-rq
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitFor } from '../../src/testing/index.ts';
import { killQuietly } from '../processes/runner-workbench.ts';
import { atTheEnd } from '../support/at-the-end.ts';
import { type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

export const checkout = process.env['RQ_CHECKOUT'] ?? '';
export const hasRq = existsSync(join(checkout, 'code/relay_script.rb'));
/** Prints a line whatever the reporter shows of a passed test. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);
export const WHY_SKIPPED = 'skipped, because RQ_CHECKOUT does not name a checkout of brightroll/rq';

const SYSTEM_QUEUES = ['relay', 'webhook', 'cleaner', 'rq_router'];
const STATES = ['prep', 'que', 'run', 'done', 'relayed', 'err'];
const shim = join(import.meta.dirname, 'rq-shim.rb');
const run = promisify(execFile);

export interface RqQueue {
  readonly name: string;
  readonly script: string;
  readonly coalesce_params?: readonly number[];
}

/** A message on RQ's disk. */
export interface RqMessage {
  readonly state: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** By name. */
  readonly md5: Readonly<Record<string, string>>;
}

export class RealRq {
  readonly root = mkdtempSync(join(tmpdir(), 'longhaul-real-rq-'));
  readonly home = join(this.root, 'rq');
  #process: GuardedProcess | null = null;
  port = 0;

  constructor() {
    cpSync(checkout, this.home, { recursive: true, verbatimSymlinks: true, filter: (path) => !path.endsWith('/.git') });
    atTheEnd(() => this.close());
  }

  get base(): string {
    return `http://127.0.0.1:${this.port}/`;
  }

  /** Installs it with RQ's own program, and adds queues. */
  async install(queues: readonly RqQueue[], relayWorkers = 1): Promise<void> {
    this.port = await freePort();
    const files = join(this.home, 'tmp-files');
    mkdirSync(files);
    const words = ['bin/rq-install', '--force', '--host', '127.0.0.1', '--addr', '127.0.0.1'];
    await run('ruby', [...words, '--port', String(this.port), '--tmpdir', files], { cwd: this.home, env: this.#env() });
    for (const name of SYSTEM_QUEUES) {
      const path = join(this.home, 'queue', name, 'config.json');
      const config = JSON.parse(readFileSync(path, 'utf8')) as object;
      const workers = name === 'relay' ? relayWorkers : 1;
      // RQ clears RUBYOPT before it starts a script.
      writeFileSync(path, JSON.stringify({ ...config, num_workers: workers, exec_prefix: `env RUBYOPT=-r${shim}` }));
    }
    for (const queue of queues) this.#addQueue(queue);
  }

  #addQueue({ script, ...queue }: RqQueue): void {
    const folder = join(this.home, 'queue', queue.name);
    for (const state of STATES) mkdirSync(join(folder, state), { recursive: true });
    const path = join(this.home, `${queue.name}.sh`);
    writeFileSync(path, `#!/bin/bash\n${script}\n`);
    chmodSync(path, 0o755);
    const config = { script: path, num_workers: 1, exec_prefix: '', env_vars: {}, blocking_params: [], schedule: [] };
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, ...queue }));
  }

  async start(): Promise<void> {
    // As bin/rq-mgr does it: fds 3 and 4 are taken before ruby takes them.
    const line = 'exec 3>/dev/null 4>/dev/null; exec ruby -C "$0" -I . code/rq-mgr.rb run';
    this.#process = await spawnGuarded('bash', ['-c', line, this.home], { env: this.#env(), folder: this.root });
    for (const stream of [this.#process.stdout, this.#process.stderr]) stream.resume();
    const isUp = () =>
      fetch(`${this.base}q.json`).then(
        ({ ok }) => ok,
        () => false,
      );
    await waitFor('RQ', isUp, { deadlineMs: 60_000 });
  }

  /** Runs its command line in its directory. */
  rq(...words: string[]): Promise<{ readonly code: number; readonly stdout: string }> {
    return new Promise((resolve) => {
      execFile('ruby', ['bin/rq', ...words], { cwd: this.home, env: this.#env() }, (error, stdout) =>
        resolve({ code: error === null ? 0 : Number(error.code), stdout }),
      );
    });
  }

  /** Kills everything that belongs to it at once, scripts included. */
  async kill9(): Promise<void> {
    for (const pid of this.#pids()) killQuietly(pid);
    await this.#process?.ended;
  }

  /** Kills only the process of a queue. Its scripts go on, and RQ starts the process again. */
  killQueue(name: string): void {
    killQuietly(Number(readFileSync(join(this.home, 'queue', name, 'queue.pid'), 'utf8')));
  }

  /** Its processes: they run in its folder, or in one of a message below it. */
  #pids(): readonly number[] {
    const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    return all.filter((pid) => isBelow(pid, this.home)).map(Number);
  }

  async post(path: string, fields: Readonly<Record<string, string>>): Promise<unknown> {
    const reply = await fetch(new URL(path, this.base), {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
    });
    const text = await reply.text();
    return reply.status === 200 ? (JSON.parse(text) as unknown) : reply.status;
  }

  /** Adds a message with its files, in two phases. Returns its address. */
  async send(queue: string, fields: object, files: ReadonlyMap<string, Buffer> = new Map()): Promise<string> {
    const mesg = JSON.stringify({ ...fields, _method: 'prep' });
    const [word, id] = (await this.post(`q/${queue}/new_message`, { x_format: 'json', mesg })) as [string, string];
    if (word !== 'ok') throw new Error(`RQ refused a message: ${id}`);
    for (const [name, bytes] of files) {
      const form = new FormData();
      form.set('x_format', 'json');
      form.set('filedata', new Blob([new Uint8Array(bytes)]), name);
      const attached = (await (await fetch(`${id}/attach/new`, { method: 'POST', body: form })).json()) as string[];
      if (attached[1] !== `${md5(bytes)}-Attached successfully`)
        throw new Error(`RQ took no file: ${attached.join(' ')}`);
    }
    const committed = (await this.post(id, { x_format: 'json', _method: 'commit' })) as string[];
    if (committed[0] !== 'ok') throw new Error(`RQ did not commit: ${committed.join(' ')}`);
    return id;
  }

  /** The states of all messages of a queue, from its disk. */
  states(queue: string): readonly string[] {
    return this.#folders(queue).map(({ state }) => state);
  }

  /** All messages of a queue with their files, from its disk, while nothing moves there. */
  messages(queue: string): readonly RqMessage[] {
    return this.#folders(queue).map(({ folder, state }) => readMessage(folder, state));
  }

  #folders(queue: string): readonly { readonly folder: string; readonly state: string }[] {
    return STATES.flatMap((state) =>
      foldersOf(join(this.home, 'queue', queue, state)).map((folder) => ({ folder, state })),
    );
  }

  async close(): Promise<void> {
    await this.kill9();
    rmSync(this.root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }

  #env(): NodeJS.ProcessEnv {
    return { ...process.env, RUBYOPT: `-r${shim}` };
  }
}

export const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');

function isBelow(pid: string, folder: string): boolean {
  try {
    // The program of the shell that supervises it names the folder as well, but runs elsewhere.
    const cwd = readlinkSync(`/proc/${pid}/cwd`);
    return cwd === folder || cwd.startsWith(`${folder}/`);
  } catch {
    return false;
  }
}

/** Folders with a message; done and relayed have folders of days, hours and minutes above them. */
function foldersOf(folder: string): readonly string[] {
  if (existsSync(join(folder, 'msg'))) return [folder];
  const below = entriesOf(folder).filter((entry) => entry.isDirectory());
  return below.flatMap(({ name }) => (name === 'attach' || name === 'job' ? [] : foldersOf(join(folder, name))));
}

/** A folder that has just moved to another state has none. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function readMessage(folder: string, state: string): RqMessage {
  const fields = JSON.parse(readFileSync(join(folder, 'msg'), 'utf8')) as Record<string, unknown>;
  const attached = join(folder, 'attach');
  const names = existsSync(attached) ? readdirSync(attached) : [];
  return {
    state,
    fields,
    md5: Object.fromEntries(names.map((name) => [name, md5(readFileSync(join(attached, name)))])),
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
