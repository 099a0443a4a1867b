/**
 * The runner process: starts shims, and says when one of them is gone.
 *
 * A process of its own because starting costs a copy of the page tables: from a process with a heap of 500 MB it is
 * more than ten times as slow. So it must stay small and import nothing heavy. It ends when its parent does, which
 * it learns from the end of its stdin; the shims are in sessions of their own and go on.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { createLineReader, toLine } from './json-lines.ts';
import type { FromRunner, ToRunner } from './runner-messages.ts';

const O_CLOEXEC = 0o2000000;

closeInherited();
// Only the parent ends it; what a terminal or a service manager sends to everybody is not meant for it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.on(
  'data',
  createLineReader((message) => start(message as ToRunner)),
);
process.stdin.on('end', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
say({ type: 'ready' });

/** A descriptor that somebody left open to all their children must not reach the scripts. Node's own are closed by exec. */
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

function start({ id, shim }: ToRunner): void {
  const { args, cwd, env } = shim;
  let child: ChildProcess;
  try {
    child = spawn('/bin/sh', args, { cwd, env, detached: true, stdio: 'ignore' });
  } catch (error) {
    say({ type: 'refused', id, message: String(error) });
    return;
  }
  child.once('error', (error) => say({ type: 'refused', id, message: error.message }));
  if (child.pid === undefined) return;
  say({ type: 'spawned', id, pid: child.pid });
  child.once('exit', () => say({ type: 'gone', id }));
}

function say(message: FromRunner): void {
  process.stdout.write(toLine(message));
}
