/**
 * The runner process: starts a shim for each attempt, and says when the shim has ended.
 *
 * A process of its own because starting costs a copy of the page tables: from a process with a heap of 500 MB it is
 * more than ten times as slow. So it must stay small and import nothing heavy. It ends when its parent does, which
 * it learns from the end of its stdin; the shims are in sessions of their own and go on.
 */
import { spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import type { ShimOrder } from '../attempt/start-order.ts';
import { compileLess } from './compile-less.ts';
import { createLineReader, toLine } from './json-lines.ts';

/** Starts one shim. `id` is in every message about it. */
export interface ToRunner extends ShimOrder {
  readonly id: number;
}

export type FromRunner =
  /** It listens. */
  | { readonly type: 'ready' }
  /** The shim was started, and its whole order was written to it. */
  | { readonly type: 'spawned'; readonly id: number }
  /** Nothing was started: there is no room for another process. */
  | { readonly type: 'refused'; readonly id: number; readonly message: string }
  /** The shim has ended, maybe before it had its whole order. The attempt's files tell how the attempt ended. */
  | { readonly type: 'gone'; readonly id: number };

const O_CLOEXEC = 0o2000000;

compileLess();
closeInherited();
// Only the parent ends it; what a terminal or a service manager sends to all processes is not meant for it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.on(
  'data',
  createLineReader((message) => startShim(message as ToRunner)),
);
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
say({ type: 'ready' });

/** The folder is an argument for people who read a list of processes. */
function startShim({ id, folder, text }: ToRunner): void {
  const refuse = (error: unknown) => say({ type: 'refused', id, message: (error as Error).message });
  try {
    const shim = spawn('/bin/sh', ['-s', 'longhaul-shim', folder], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    shim.once('error', refuse);
    shim.once('exit', () => say({ type: 'gone', id }));
    // A shim that died before it read its order: `exit` tells.
    shim.stdin.on('error', () => undefined);
    // Race with the death of this process: a shim counts as started once all of its order is on its way.
    shim.stdin.once('finish', () => say({ type: 'spawned', id }));
    shim.stdin.end(text);
  } catch (error) {
    refuse(error);
  }
}

/** A descriptor that was inherited without close-on-exec must not reach the scripts. Node's own are closed by exec. */
function closeInherited(): void {
  for (const name of readdirSync('/proc/self/fd')) {
    const file = Number(name);
    if (file <= 2 || isClosedByExec(file)) continue;
    try {
      closeSync(file);
    } catch {
      // The descriptor of the listing itself.
    }
  }
}

function isClosedByExec(file: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${file}`, 'utf8'))?.[1] ?? '0';
    return (Number.parseInt(flags, 8) & O_CLOEXEC) !== 0;
  } catch {
    return true;
  }
}

function say(message: FromRunner): void {
  process.stdout.write(toLine(message));
}
