/**
 * Helpers for tests of scripts: a data directory with queues from files, `longhaul serve` as a process, and a
 * connection of the test to its store. Nothing is left when the test is over.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll } from 'vitest';
import type { Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import type { AttemptRecord } from '../../src/node/attempts/attempt-record.ts';
import { parseAttemptRecord, recordPath } from '../../src/node/attempts/attempt-record.ts';
import type { JobView } from '../../src/wire/job-view.ts';
import { type Ended, type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';
import { endAllOf, eventually, scripts } from './runner-workbench.ts';

export { eventually, markedWith } from './runner-workbench.ts';

const root = join(import.meta.dirname, '../..');
export const cli = join(root, 'dist/cli/main.js');

/** Many nodes at once, each read line by line. */
const ON_ANY_PORT = { LONGHAUL_PORT: '0', LONGHAUL_LOG_FORMAT: 'pretty' };

export interface Served {
  readonly pid: number;
  readonly lines: readonly string[];
  readonly ended: Promise<Ended>;
  readonly isAlive: boolean;
  /** Waits for a line that was or will be printed. */
  says(text: string | RegExp, timeoutMs?: number): Promise<string>;
  kill9(): Promise<Ended>;
  terminate(): Promise<Ended>;
}

export class Bench {
  readonly home = mkdtempSync(join(tmpdir(), 'longhaul-scripts-'));
  readonly queues = join(this.home, 'queues');
  readonly #children = new Set<GuardedProcess>();
  #longhaul: Promise<Longhaul> | null = null;

  constructor() {
    mkdirSync(this.queues, { mode: 0o700 });
    afterAll(() => this.close());
  }

  /** Adds a queue with this script (bash by default) and its settings. */
  queue(name: string, text: string, settings?: object): string {
    if (settings !== undefined) this.settings(name, settings);
    const path = join(this.queues, name);
    writeFileSync(`${path}~`, text.startsWith('#!') ? text : `#!/bin/bash\n${text}\n`, { mode: 0o755 });
    // A rename: a running script keeps its file.
    cpSync(`${path}~`, `${path}.new~`);
    chmodSync(`${path}.new~`, 0o755);
    execFileSync('mv', [`${path}.new~`, path]);
    return path;
  }

  settings(name: string, settings: object | string): void {
    writeFileSync(
      join(this.queues, `${name}.json`),
      typeof settings === 'string' ? settings : JSON.stringify(settings),
    );
  }

  /** Copies a fixture so that queues may run it. */
  fixture(file: string): string {
    const path = join(this.queues, `.${file}`);
    if (file.endsWith('.c')) execFileSync('sh', ['-c', `cc -O1 -o "${path}" "${join(scripts, file)}"`]);
    else cpSync(join(scripts, file), path);
    chmodSync(path, 0o755);
    return path;
  }

  async serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const served = await this.begin([process.execPath, cli, 'serve', '--home', this.home, ...args], env);
    await served.says(/^longhaul serves/);
    return served;
  }

  /** Starts a node that may fail, or through another program. */
  async begin([program = '', ...args]: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Served> {
    const child = await spawnGuarded(program, args, { env: { ...process.env, ...ON_ANY_PORT, ...env } });
    this.#children.add(child);
    void child.ended.then(() => this.#children.delete(child));
    return watchLines(child);
  }

  /** Runs the command line. */
  run(...args: string[]): { code: number; output: string } {
    try {
      const env = { ...process.env, LONGHAUL_HOME: this.home };
      return {
        code: 0,
        output: execFileSync(process.execPath, [cli, ...args], { encoding: 'utf8', env, stdio: 'pipe' }),
      };
    } catch (error) {
      const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
      return { code: status, output: stdout + stderr };
    }
  }

  longhaul(): Promise<Longhaul> {
    this.#longhaul ??= connect(this.home);
    return this.#longhaul;
  }

  async add(queue: string, data: unknown = null, options: object = {}): Promise<string> {
    return (await (await this.longhaul()).queue(queue).add(data, options)).id;
  }

  async find(id: string): Promise<JobView> {
    const job = await (await this.longhaul()).find(id);
    if (job === null) throw new Error(`there is no job ${id}`);
    return job;
  }

  /** Returns the job once it is in this state. */
  until(id: string, state: string | ((job: JobView) => boolean), ms = 30_000): Promise<JobView> {
    const isSo = typeof state === 'string' ? (job: JobView) => job.state === state : state;
    return eventually(() => this.find(id), isSo, ms);
  }

  folder(id: string, attempt = 1): string {
    return join(this.home, 'jobs', id, 'attempts', String(attempt));
  }

  log(id: string, attempt = 1): string {
    const path = join(this.folder(id, attempt), 'log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  record(id: string, attempt = 1): AttemptRecord {
    const record = parseAttemptRecord(readFileSync(recordPath(this.folder(id, attempt)), 'utf8'));
    if (record === null) throw new Error(`nothing was noted of attempt ${attempt} of ${id}`);
    return record;
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.signal('SIGKILL');
    await Promise.all([...this.#children].map(({ ended }) => ended));
    await (await this.#longhaul)?.close();
    await endAllOf(this.home);
    rmSync(this.home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** Returns the pid of a child process by its command; 0 when there is none. */
export function childOf(pid: number, program: string): number {
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1')
        .replace(/^.*\) /s, '')
        .split(' ');
      const isHers = Number(stat[1]) === pid && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(program);
      if (isHers) return Number(name);
    } catch {
      // It ended meanwhile.
    }
  }
  return 0;
}

function watchLines(child: GuardedProcess): Served {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  const end = (signal: NodeJS.Signals) => {
    child.signal(signal);
    return child.ended;
  };
  return {
    pid: child.pid,
    lines,
    ended: child.ended,
    get isAlive() {
      return child.isAlive;
    },
    kill9: () => end('SIGKILL'),
    terminate: () => end('SIGTERM'),
    async says(text, timeoutMs = 30_000) {
      const matches = (line: string) => (typeof text === 'string' ? line.includes(text) : text.test(line));
      const seen = await eventually(
        () => ({ found: lines.find(matches), tail: lines.slice(-10), isAlive: child.isAlive }),
        ({ found, isAlive }) => found !== undefined || !isAlive,
        timeoutMs,
      );
      if (seen.found === undefined) throw new Error(`it ended without printing ${text}: ${lines.join('\n')}`);
      return seen.found;
    },
  };
}
