/**
 * The runner process: starts a shim for each attempt, and reports when the shim has exited.
 *
 * It is a separate process because fork copies the page tables: from a process with a heap of 500 MB, a start is more
 * than ten times slower. So it must stay small and import nothing heavy. It exits when its parent closes its stdin. The
 * shims run in sessions of their own and continue.
 */
import { spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import type { ShimInput } from '../attempt/start-request.ts';
import { readStat } from '../process-tree/process-stat.ts';
import { compileLess } from './compile-less.ts';
import { createLineReader, toLine } from './json-lines.ts';

/** Starts one shim. Every message about it carries `id`. */
export interface ToRunner extends ShimInput {
  readonly id: number;
}

export type FromRunner =
  /** The process accepts requests. */
  | { readonly type: 'ready' }
  /** The shim was started, and its whole input was written to it. */
  | { readonly type: 'spawned'; readonly id: number }
  /** Nothing was started: the system has no room for another process. */
  | { readonly type: 'refused'; readonly id: number; readonly message: string }
  /**
   * The shim has exited, possibly before it read its whole input. The attempt's files contain how the attempt ended.
   */
  | { readonly type: 'exited'; readonly id: number };

const O_CLOEXEC = 0o2000000;

compileLess();
closeInherited();
// Only the parent ends this process. Signals that a terminal or service manager sends to a whole group are not meant
// for it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.on(
  'data',
  createLineReader((message) => startShim(message as ToRunner)),
);
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
send({ type: 'ready' });

/** The directory is an argument only so that it shows in a process listing. */
function startShim({ id, folder, text }: ToRunner): void {
  const refuse = (error: unknown) => send({ type: 'refused', id, message: (error as Error).message });
  try {
    const shim = spawn('/bin/sh', ['-s', 'longhaul-shim', folder], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shim.once('error', refuse);
    shim.once('exit', () => send({ type: 'exited', id }));
    // A shim that dies before it reads its input is reported by `exit`.
    shim.stdin.on('error', () => undefined);
    // Race with the death of this process: a shim counts as started once its whole input is written.
    shim.stdin.once('finish', () => send({ type: 'spawned', id }));
    shim.stdin.end(`start=${readStat(shim.pid ?? 0)?.start ?? ''}\n${text}`);
  } catch (error) {
    refuse(error);
  }
}

/**
 * Closes descriptors that were inherited without close-on-exec, which must not reach the scripts. Exec closes those of
 * Node.
 */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const descriptor = Number(name);
    if (descriptor <= 2 || isClosedByExec(descriptor)) continue;
    try {
      closeSync(descriptor);
    } catch {
      // This was the descriptor of the directory listing itself.
    }
  }
}

function isClosedByExec(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return true;
  }
}

function send(message: FromRunner): void {
  process.stdout.write(toLine(message));
}
