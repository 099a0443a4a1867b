/**
 * Limits the number of connections over all listeners that share a limiter. Excess connections get an error and are
 * closed, so that the process never runs out of file descriptors and open connections are not affected.
 */
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { closeWith } from './client-error.ts';

export interface ConnectionLimits {
  /** TCP connections over all addresses. */
  readonly tcp: number;
  /** Connections over the unix socket; a separate limit, so that local workers can always connect. */
  readonly socket: number;
}

const MAX: ConnectionLimits = { tcp: 12_000, socket: 2_000 };
/** File descriptors for the store, the logs, the runner and the attachments. */
const OTHER_FILES = 512;

/** Returns the limits, scaled down if the file descriptor limit of the process requires it. */
export function connectionLimits(openFiles: number = maxOpenFiles()): ConnectionLimits {
  const share = Math.min(1, Math.max(0.01, (openFiles - OTHER_FILES) / (MAX.tcp + MAX.socket)));
  return { tcp: Math.floor(MAX.tcp * share), socket: Math.floor(MAX.socket * share) };
}

/** Returns infinity if the limit cannot be read. */
function maxOpenFiles(): number {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export class ConnectionLimiter {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(socket: Socket): void {
    if (this.#count >= this.#max) {
      closeWith(socket, 'overloaded', `the limit of ${this.#max} connections is reached`);
      return;
    }
    this.#count += 1;
    socket.once('close', () => {
      this.#count -= 1;
    });
  }
}
