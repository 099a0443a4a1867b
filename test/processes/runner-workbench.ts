/**
 * Shared by the runner tests: directories that are removed with the test, scripts, start requests, and the guarantee
 * that no process of a test is left.
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
import { type StartRequest, toShimInput } from '../../src/runner/attempt/start-request.ts';
import { openRunner, type Runner, type RunnerOptions } from '../../src/runner/open-runner.ts';

export const scripts = join(import.meta.dirname, '..', 'fixtures', 'scripts');
const startPath = process.env['PATH'] ?? '/usr/bin:/bin';

/**
 * A directory for attempts. After the test, every process with a mark from it is killed and the directory is removed.
 */
export function aHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'longhaul-runner-'));
  onTestFinished(async () => {
    await endAllOf(home);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  });
  return home;
}

/** Several searches in a row must find nothing: a process that forks and exits escapes a single one. */
export async function endAllOf(home: string): Promise<void> {
  for (let empty = 0; empty < 3; ) {
    const left = markedWith(home, killQuietly);
    empty = left.length === 0 ? empty + 1 : 0;
    if (left.length > 0) await sleep(5);
  }
}

/** Living processes whose environment contains a mark that begins with this path, the newest first. */
export function markedWith(path: string, onFound: (pid: number) => void = () => undefined): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const newestFirst = pids.map(Number).sort((a, b) => b - a);
  return newestFirst.filter((pid) => {
    try {
      if (/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return false;
      const isMarked = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`LONGHAUL_ATTEMPT_MARK=${path}`);
      if (isMarked) onFound(pid);
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
    // It ended by itself.
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

/** A new attempt directory with its workdir. */
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

export function aRequest(folder: string, script: string, more: Partial<StartRequest> = {}): StartRequest {
  return {
    folder,
    cwd: join(folder, 'work'),
    argv: [script],
    stdin: null,
    ...more,
    env: { PATH: startPath, ...more.env },
  };
}

/** Starts a bash script and returns the attempt. */
export async function started(
  runner: Runner,
  home: string,
  { text, request = {}, ...watch }: { text: string; request?: Partial<StartRequest> } & WatchOptions,
): Promise<Attempt> {
  const answer = await runner.start(aRequest(aFolder(home), aScript(home, text), request), watch);
  if (!answer.ok) throw new Error(answer.message);
  return answer.attempt;
}

const tools = { setsid: '/usr/bin/setsid', nice: 'nice', setpriv: 'setpriv', env: 'env' };

export const aShimText = (folder: string, script: string): string =>
  toShimInput(aRequest(folder, script, { cwd: '/' }), { tools, boot: 'boot', cgroup: null }).text;

/**
 * A shim without a runner: its shell, the directory of its own files in `home`, and how many characters of its input it
 * gets.
 */
export function aShim(folder: string, script: string, { shell = 'sh', home = '', cut = Infinity } = {}): ChildProcess {
  const child = spawn(shell, ['-s'], { env: {}, detached: true, stdio: ['pipe', 'ignore', 'ignore'] });
  const text = aShimText(folder, script);
  const input = home === '' ? text : text.replace(/^home=.*$/m, `home='${home}'`);
  child.stdin?.end(input.slice(0, cut));
  return child;
}

export const logOf = ({ folder }: { folder: string }): string => readFileSync(join(folder, 'log'), 'utf8');

/** Polls for a condition that no event reports. Rejects with the last value. */
export async function eventually<T>(read: () => T | Promise<T>, isDone: (seen: T) => boolean, ms = 30_000): Promise<T> {
  const from = performance.now();
  for (;;) {
    const seen = await read();
    if (isDone(seen)) return seen;
    const passedMs = performance.now() - from;
    if (passedMs > ms)
      throw new Error(`the condition did not hold within ${ms} ms; last value: ${JSON.stringify(seen)}`);
    // Poll less often after a second: a poll is work for a store, a node or a browser.
    await sleep(passedMs < 1_000 ? 10 : 30);
  }
}

/** Whether a program is on the PATH. Tests that need a missing one are skipped and counted. */
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
