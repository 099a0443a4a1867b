/**
 * A line to a shim, past the runner process: orders go through one pipe, and through another one it says that it is done.
 * Both were made by the shim and are opened through it; when it hears no orders any more, it ends.
 *
 * Invariant: these are the ends of that very shim. Its number may be another process's by now, so whether it lives is
 * asked once they are open.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { ProcessKey } from './attempt-files.ts';
import { isAlive } from './process-stat.ts';

/** The numbers that shim.sh has them under. */
const ORDERS_FD = 7;
const WORDS_FD = 9;
const NEWLINE = 0x0a;

export interface ShimListener {
  /** It said that it hears these orders, or that it is done with one. */
  onWord(): void;
  /** It is no more. */
  onGone(): void;
}

export interface ShimLine {
  order(text: string): void;
  /** It ends as soon as it has nothing to do. */
  hangUp(): void;
}

/** Null for a shim that is gone, or whose shell makes no pipes. */
export function openShimLine(shim: ProcessKey, listener: ShimListener): ShimLine | null {
  const ends: number[] = [];
  try {
    ends.push(openSync(`/proc/${shim.pid}/fd/${ORDERS_FD}`, constants.O_WRONLY | constants.O_NONBLOCK));
    ends.push(openSync(`/proc/${shim.pid}/fd/${WORDS_FD}`, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch {
    // Judged below.
  }
  const [orders, words] = ends;
  if (orders !== undefined && words !== undefined && isAlive(shim)) return lineThrough({ orders, words }, listener);
  for (const end of ends) closeSync(end);
  return null;
}

function lineThrough(ends: { orders: number; words: number }, { onWord, onGone }: ShimListener): ShimLine {
  const orders = new Socket({ fd: ends.orders, readable: false, writable: true });
  const words = new Socket({ fd: ends.words, readable: true, writable: false });
  // What cannot be written any more is told by the end of the other pipe.
  orders.on('error', () => undefined);
  words.on('error', () => undefined);
  words.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === NEWLINE) onWord();
  });
  words.once('close', () => {
    orders.destroy();
    onGone();
  });
  return {
    order: (text) => void orders.write(text),
    hangUp() {
      words.removeAllListeners('close');
      words.destroy();
      orders.end();
    },
  };
}
