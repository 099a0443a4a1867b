/**
 * What the tests of the runner share: folders that go with the test, scripts, orders, and the promise that nothing a
 * test started is left behind.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import type { Attempt, WatchOptions } from '../../src/runner/attempt/attempt.ts';
import { type Order, toShimOrder } from '../../src/runner/attempt/start-order.ts';
import { openRunner, type Runner, type RunnerOptions } from '../../src/runner/open-runner.ts';

export const scripts = join(import.meta.dirname, '..', 'fixtures', 'scripts');
const startPath = process.env['PATH'] ?? '/usr/bin:/bin';

/** A folder for attempts. When the test is over, whatever still carries a mark from it is killed and it is removed. */
export function aHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-runner-'));
  onTestFinished(async () => {
    await endAllOf(home);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  });
  return home;
}

/** Several looks in a row must find nothing: one that becomes another process escapes a single one. */
export async function endAllOf(home: string): Promise<void> {
  for (let empty = 0; empty < 3; ) {
    const left = markedWith(home, killQuietly);
    empty = left.length === 0 ? empty + 1 : 0;
    if (left.length > 0) await sleep(5);
  }
}

/** Living processes whose environment carries a mark that begins with this path, the newest first. */
export function markedWith(path: string, onSight: (pid: number) => void = () => undefined): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const newestFirst = pids.map(Number).sort((a, b) => b - a);
  return newestFirst.filter((pid) => {
    try {
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return false;
      const isMarked = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`LONGHAUL_ATTEMPT_MARK=${path}`);
      if (isMarked) onSight(pid);
      return isMarked;
    } catch {
      return false;
    }
  });
}

export function killQuietly(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It went by itself.
  }
}

export function aRunner(options: RunnerOptions = {}): Runner {
  const runner = openRunner({
    onTrouble: (what, error) => {
      throw new Error(what, { cause: error });
    },
    ...options,
  });
  onTestFinished(() => runner.stop());
  return runner;
}

let attempts = 0;

/** A fresh attempt folder with its work folder. */
export function aFolder(home: string): string {
  attempts += 1;
  const folder = join(home, `attempt-${attempts}`);
  mkdirSync(join(folder, 'work'), { recursive: true });
  return folder;
}

/** An executable file with this text. */
export function aScript(home: string, text: string): string {
  attempts += 1;
  const path = join(home, `script-${attempts}`);
  writeFileSync(path, text.startsWith('#!') ? text : `#!/bin/bash\n${text}\n`, { mode: 0o755 });
  return path;
}

export function anOrder(folder: string, script: string, more: Partial<Order> = {}): Order {
  return {
    folder,
    cwd: join(folder, 'work'),
    argv: [script],
    stdin: null,
    ...more,
    env: { PATH: startPath, ...more.env },
  };
}

/** Starts a bash text and answers the attempt. */
export async function started(
  runner: Runner,
  home: string,
  { text, order = {}, ...watch }: { text: string; order?: Partial<Order> } & WatchOptions,
): Promise<Attempt> {
  const answer = await runner.start(anOrder(aFolder(home), aScript(home, text), order), watch);
  if (!answer.ok) throw new Error(answer.message);
  return answer.attempt;
}

const tools = { setsid: '/usr/bin/setsid', nice: 'nice', setpriv: 'setpriv', env: 'env' };

export const aShimText = (folder: string, script: string): string =>
  toShimOrder(anOrder(folder, script, { cwd: '/' }), { tools, boot: 'boot', cgroup: null }).text;

/** A shim without a runner: its shell, its own text in `home`, and how many characters of its order it gets. */
export function aShim(folder: string, script: string, { shell = 'sh', home = '', cut = Infinity } = {}): ChildProcess {
  const child = spawn(shell, ['-s'], { env: {}, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const text = aShimText(folder, script);
  const order = home === '' ? text : text.replace(/^home=.*$/m, `home='${home}'`);
  child.stdin?.end(order.slice(0, cut));
  return child;
}

export const logOf = ({ folder }: { folder: string }): string => readFileSync(join(folder, 'log'), 'utf8');

/** Polls for something that no event tells of. Rejects with what it saw last. */
export async function eventually<T>(look: () => T | Promise<T>, isSo: (seen: T) => boolean, ms = 30_000): Promise<T> {
  const from = performance.now();
  for (;;) {
    const seen = await look();
    if (isSo(seen)) return seen;
    const passedMs = performance.now() - from;
    if (passedMs > ms) throw new Error(`not so in ${ms} ms; last seen: ${JSON.stringify(seen)}`);
    // What takes seconds is looked for less often: a look is work for a store, a node or a browser.
    await sleep(passedMs < 1_000 ? 10 : 30);
  }
}

/** Whether a program is on the path. What needs one that is missing is skipped, and what was skipped is counted. */
export function hasProgram(name: string): boolean {
  return startPath.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export const C_COMPILER = 'cc';

/** Compiles a fixture written in C. */
export function compiled(source: string, home: string): string {
  const target = join(home, 'compiled');
  execFileSync(C_COMPILER, ['-O1', '-o', target, join(scripts, source)]);
  return target;
}
