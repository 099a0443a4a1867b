/**
 * Test bench for the command line: a data directory, a node as a real process, and commands of `longhaul` one after
 * another in one process, or each as a process of its own. Everything is removed after the test file.
 */
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { constants, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll } from 'vitest';
import type { JobView, Longhaul } from '../../src/library/index.ts';
import { connect } from '../../src/library/index.ts';
import { endAllOf, eventually } from '../processes/runner-workbench.ts';
import { CliSession, type CommandResult } from '../support/cli-session.ts';
import { type Ended, type GuardedProcess, spawnGuarded } from '../support/guarded-process.ts';

export { eventually } from '../processes/runner-workbench.ts';

const main = join(import.meta.dirname, '../../dist/cli/main.js');

export type { CommandResult } from '../support/cli-session.ts';

/** A command that is still running. */
export interface RunningCommand {
  readonly child: GuardedProcess;
  readonly ended: Promise<CommandResult>;
  output(): { stdout: string; stderr: string };
}

export interface RunningNode {
  readonly child: GuardedProcess;
  /** The TCP address that the node printed. */
  address(): string;
}

export class CliBench {
  readonly home: string;
  readonly folder = mkdtempSync(join(tmpdir(), 'longhaul-cli-'));
  readonly #children = new Set<GuardedProcess>();
  readonly #session = new CliSession(this.folder);
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

  /** Installs a queue with a rename, so that a node never sees a partial script. */
  queue(name: string, script: string, settings: object = {}): void {
    const path = join(this.home, 'queues', name);
    writeFileSync(`${path}.json`, JSON.stringify(settings));
    writeFileSync(`${path}~`, `#!/bin/bash\n${script}\n`);
    chmodSync(`${path}~`, 0o755);
    renameSync(`${path}~`, path);
  }

  /** Resolves when the node answers on its socket. */
  async serve(starting: Promise<RunningCommand> = this.start(['serve'], { LONGHAUL_PORT: '0' })): Promise<RunningNode> {
    const { child, ended, output } = await starting;
    let code: number | null = null;
    void ended.then((over) => (code = over.code));
    const message = () =>
      `longhaul serve (pid ${child.pid}, exit ${code ?? 'none'}) printed: ${output().stdout}${output().stderr}`;
    await eventually(
      async () => code !== null || (await isAnswered(join(this.home, 'node.sock'))),
      (isReady) => isReady,
      30_000,
    ).catch((cause: unknown) => {
      child.signal('SIGKILL');
      throw new Error(message(), { cause });
    });
    if (code !== null) throw new Error(message());
    return { child, address: () => /http:\/\/localhost:\d+/.exec(output().stdout)?.[0] ?? '' };
  }

  /** Starts `longhaul` as a process of its own. */
  async start(argv: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
    const started = await this.#spawn(process.execPath, [main, ...argv], env);
    started.child.stdin.end();
    return started;
  }

  /** Runs `longhaul` to its end, in the process of all such commands. */
  run(...argv: string[]): Promise<CommandResult> {
    return this.runIn({}, ...argv);
  }

  /** Runs `longhaul` to its end with these variables, in the process of all such commands. */
  runIn(env: NodeJS.ProcessEnv, ...argv: string[]): Promise<CommandResult> {
    return this.#session.run(argv, this.#envWith(env));
  }

  /** Runs a line in a shell. */
  async shell(line: string): Promise<CommandResult> {
    return (await this.startShell(line)).ended;
  }

  async startShell(line: string, env: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
    const started = await this.#spawn('bash', ['-c', line], env);
    started.child.stdin.end();
    return started;
  }

  /** Starts a line in a terminal of its own, which `script` provides; its stdin is the keyboard. */
  async startInTerminal(line: string, env: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
    return this.#spawn('script', ['-qec', line, '/dev/null'], { TERM: 'xterm', ...env });
  }

  async json<T>(...argv: string[]): Promise<T> {
    const { code, stdout, stderr } = await this.run(...argv, '--json');
    if (code !== 0) throw new Error(`longhaul ${argv.join(' ')} exited with ${code}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  /** The test's own connection to the store. */
  longhaul(): Promise<Longhaul> {
    this.#longhaul ??= connect(this.home);
    return this.#longhaul;
  }

  async until(id: string, condition: (job: JobView) => boolean): Promise<JobView> {
    const longhaul = await this.longhaul();
    const found = await eventually(
      () => longhaul.find(id),
      (job) => job !== null && condition(job),
      30_000,
    );
    if (found === null) throw new Error(`there is no job ${id}`);
    return found;
  }

  #envWith(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    const { LONGHAUL_STORE: _store, LONGHAUL_TOKEN: _token, NO_COLOR: _colour, ...own } = process.env;
    const path = `${join(this.folder, 'bin')}${delimiter}${own['PATH']}`;
    return { ...own, PATH: path, LONGHAUL_HOME: this.home, ...env };
  }

  async #spawn(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<RunningCommand> {
    const child = await spawnGuarded(command, args, { env: this.#envWith(env), cwd: this.folder });
    this.#children.add(child);
    const collected = collect(child);
    const ended = collected.ended.finally(() => this.#children.delete(child));
    return { child, ended, output: collected.output };
  }

  async close(): Promise<void> {
    await this.#session.close();
    for (const child of this.#children) child.signal('SIGKILL');
    await Promise.all([...this.#children].map(({ ended }) => ended));
    await (await this.#longhaul)?.close();
    await endAllOf(this.home);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

/** A killed node leaves its socket behind, which refuses connections. */
function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Waits for the end of both streams: their last bytes may arrive after the process has exited. */
function collect(child: GuardedProcess): {
  ended: Promise<CommandResult>;
  output(): { stdout: string; stderr: string };
} {
  const output = { stdout: '', stderr: '' };
  const closed = (['stdout', 'stderr'] as const).map(
    (name) =>
      new Promise<void>((resolve) => {
        child[name].setEncoding('utf8');
        child[name].on('data', (text: string) => (output[name] += text)).on('close', resolve);
      }),
  );
  const result = async (): Promise<CommandResult> => {
    const { code, signal }: Ended = await child.ended;
    await Promise.all(closed);
    return { code: code ?? 128 + constants.signals[signal as NodeJS.Signals], ...output };
  };
  return { ended: result(), output: () => output };
}
