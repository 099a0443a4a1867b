/**
 * How many may be connected at once, over all listeners that share the room. One too many is told so and closed, so that
 * the process never runs out of files and those who are in are not disturbed.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { closeWith } from './client-error.ts';

export interface ConnectionLimits {
  /** Over TCP, all addresses together. */
  readonly tcp: number;
  /** The socket has room of its own, so that the machine's own workers always get in. */
  readonly socket: number;
}

const MOST: ConnectionLimits = { tcp: 12_000, socket: 2_000 };
/** Files that the store, the logs, the runner and the attachments need. */
const OTHER_FILES = 512;

/** As many as we want, or as the number of open files that the system grants this process leaves room for. */
export function connectionLimits(openFiles: number = grantedFiles()): ConnectionLimits {
  const share = Math.min(1, Math.max(0.01, (openFiles - OTHER_FILES) / (MOST.tcp + MOST.socket)));
  return { tcp: Math.floor(MOST.tcp * share), socket: Math.floor(MOST.socket * share) };
}

/** Where the system does not tell, it is taken to be enough. */
function grantedFiles(): number {
  try {
    const granted = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return granted === undefined ? Number.POSITIVE_INFINITY : Number(granted);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export class ConnectionRoom {
  readonly #most: number;
  #count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  enter(socket: Socket): void {
    if (this.#count >= this.#most) {
      closeWith(socket, 'overloaded', `${this.#most} are connected already`);
      return;
    }
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
    });
  }
}
