/**
 * The runner process: starts shims, each with its first attempt, and says when that is over.
 *
 * A process of its own because starting costs a copy of the page tables: from a process with a heap of 500 MB it is
 * more than ten times as slow. So it must stay small and import nothing heavy. It ends when its parent does, which
 * it learns from the end of its stdin; the shims are in sessions of their own and go on.
 */
import { closeSync, readdirSync, readFileSync } from 'node:fs';
import { compileLess } from './compile-less.ts';
import { createLineReader, toLine } from './json-lines.ts';
import type { FromRunner, ToRunner } from './runner-messages.ts';
import { ShimStarter } from './shim-starter.ts';

const O_CLOEXEC = 0o2000000;

compileLess();
closeInherited();
const shims = new ShimStarter(say);
// Only the parent ends it; what a terminal or a service manager sends to everybody is not meant for it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.stdin.on(
  'data',
  createLineReader((message) => receive(message as ToRunner)),
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

function receive(message: ToRunner): void {
  if (message.type === 'start') shims.start(message.id, message.order);
  else shims[message.type](message.id);
}

function say(message: FromRunner): void {
  process.stdout.write(toLine(message));
}
