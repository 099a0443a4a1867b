/**
 * What the tests of the command line share: a home folder, a node on it as a process of its own, and `longhaul` as
 * people run it, each call a real process. Nothing of it is left when the test file is over.
 */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll } from 'vitest';
import type { JobView, Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { endAllOf, eventually } from '../processes/runner-workbench.ts';
import { type Ended, type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

export { eventually } from '../processes/runner-workbench.ts';

const main = join(import.meta.dirname, '../../dist/cli/main.js');

export interface Said {
  /** As a shell has it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A call that goes on. */
export interface Started {
  readonly child: GuardedProcess;
  readonly ended: Promise<Said>;
  said(): { stdout: string; stderr: string };
}

export interface Serving {
  readonly child: GuardedProcess;
  /** Where it listens by TCP, as it said. */
  address(): string;
}

export class CliBench {
  readonly home: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'longhaul-cli-'));
  readonly #children = new Set<GuardedProcess>();
  #longhaul: Promise<Longhaul> | null = null;

  constructor() {
    this.home = join(this.folder, 'longhaul');
    mkdirSync(join(this.home, 'queues'), { recursive: true, mode: 0o700 });
    mkdirSync(join(this.folder, 'bin'));
    this.file('bin/longhaul', `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, 0o755);
    afterAll(() => this.close());
  }

  file(name: string, text: string, mode = 0o644): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode });
    return path;
  }

  /** Into the folder by a rename, so that a node never sees half of it. */
  queue(name: string, script: string, settings: object = {}): void {
    const path = join(this.home, 'queues', name);
    writeFileSync(`${path}.json`, JSON.stringify(settings));
    writeFileSync(`${path}~`, `#!/bin/bash\n${script}\n`);
    chmodSync(`${path}~`, 0o755);
    renameSync(`${path}~`, path);
  }

  /** Resolved when it answers on its socket. */
  async serve(starting: Promise<Started> = this.start(['serve'], { LONGHAUL_PORT: '0' })): Promise<Serving> {
    const { child, ended, said } = await starting;
    let code: number | null = null;
    void ended.then((over) => (code = over.code));
    const words = () =>
      `longhaul serve (pid ${child.pid}, exit ${code ?? 'none'}) said: ${said().stdout}${said().stderr}`;
    await eventually(
      async () => code !== null || (await isAnswered(join(this.home, 'node.sock'))),
      (isThere) => isThere,
      30_000,
    ).catch((cause: unknown) => {
      child.signal('SIGKILL');
      throw new Error(words(), { cause });
    });
    if (code !== null) throw new Error(words());
    return { child, address: () => /http:\/\/localhost:\d+/.exec(said().stdout)?.[0] ?? '' };
  }

  async start(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Started> {
    const started = await this.#spawn(process.execPath, [main, ...words], env);
    started.child.stdin.end();
    return started;
  }

  /** The command line, to its end. */
  async run(...words: string[]): Promise<Said> {
    return (await this.start(words)).ended;
  }

  /** A line of a shell, as somebody would type it. */
  async shell(line: string): Promise<Said> {
    return (await this.startShell(line)).ended;
  }

  async startShell(line: string, env: NodeJS.ProcessEnv = {}): Promise<Started> {
    const started = await this.#spawn('bash', ['-c', line], env);
    started.child.stdin.end();
    return started;
  }

  /** In a terminal of its own, which `script` makes; what is written to its stdin is typed there. */
  async startInTerminal(line: string, env: NodeJS.ProcessEnv = {}): Promise<Started> {
    return this.#spawn('script', ['-qec', line, '/dev/null'], { TERM: 'xterm', ...env });
  }

  async json<T>(...words: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...words, '--json');
    if (code !== 0) throw new Error(`longhaul ${words.join(' ')} ended ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** The test's own look at the store. */
  longhaul(): Promise<Longhaul> {
    this.#longhaul ??= connect(this.home);
    return this.#longhaul;
  }

  async until(id: string, isSo: (job: JobView) => boolean): Promise<JobView> {
    const longhaul = await this.longhaul();
    const seen = await eventually(
      () => longhaul.find(id),
      (job) => job !== null && isSo(job),
      30_000,
    );
    if (seen === null) throw new Error(`there is no job ${id}`);
    return seen;
  }

  async #spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Started> {
    const { LONGHAUL_STORE: _store, LONGHAUL_TOKEN: _token, NO_COLOR: _colour, ...own } = process.env;
    const path = `${join(this.folder, 'bin')}${delimiter}${own['PATH']}`;
    const child = await spawnGuarded(command, args, {
      env: { ...own, PATH: path, LONGHAUL_HOME: this.home, ...env },
      cwd: this.folder,
    });
    this.#children.add(child);
    const collected = collect(child);
    const ended = collected.ended.finally(() => this.#children.delete(child));
    return { child, ended, said: collected.said };
  }

  async close(): Promise<void> {
    for (const child of this.#children) child.signal('SIGKILL');
    await Promise.all([...this.#children].map(({ ended }) => ended));
    await (await this.#longhaul)?.close();
    await endAllOf(this.home);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** A killed node leaves its socket behind, on which nobody answers. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** The last bytes come after the process is gone: only the end of both streams is the end. */
function collect(child: GuardedProcess): { ended: Promise<Said>; said(): { stdout: string; stderr: string } } {
  const pieces = { stdout: '', stderr: '' };
  const closed = (['stdout', 'stderr'] as const).map(
    (name) =>
      new Promise<void>((resolve) => {
        child[name].setEncoding('utf8');
        child[name].on('data', (text: string) => (pieces[name] += text)).on('close', resolve);
      }),
  );
  const whole = async (): Promise<Said> => {
    const { code, signal }: Ended = await child.ended;
    await Promise.all(closed);
    return { code: code ?? 128 + constants.signals[signal as NodeJS.Signals], ...pieces };
  };
  return { ended: whole(), said: () => pieces };
}
