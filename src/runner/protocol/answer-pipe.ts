/**
 * Answers to a script on its fd 4. The writing end is reached through the shim, which holds the pipe open.
 *
 * Invariant: never blocks. A script that does not read gets as much as the pipe holds; further answers are queued up to
 * a limit, and then dropped.
 */
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import type { ProcessKey } from '../attempt/attempt-files.ts';
import { isAlive } from '../process-tree/process-stat.ts';

const MAX_WAITING = 100;
const RETRY_MS = 200;
/** PIPE_BUF: a write up to this size is atomic. */
const MAX_ANSWER_BYTES = 4096;

export interface AnswerPipe {
  /** Sends one line. Returns false when the shim is dead, or too many answers are unread. */
  answer(text: string): boolean;
  close(): void;
}

export function createAnswerPipe(shim: ProcessKey): AnswerPipe {
  const waiting: Buffer[] = [];
  let timer: NodeJS.Timeout | null = null;

  const flush = () => {
    timer = null;
    while (waiting[0] !== undefined && isAlive(shim) && writeTo(shim.pid, waiting[0])) waiting.shift();
    if (waiting.length > 0 && isAlive(shim)) timer = setTimeout(flush, RETRY_MS).unref();
  };
  return {
    answer(text) {
      if (waiting.length >= MAX_WAITING || !isAlive(shim)) return false;
      waiting.push(toLine(text));
      if (timer === null) flush();
      return true;
    },
    close() {
      if (timer !== null) clearTimeout(timer);
      waiting.length = 0;
    },
  };
}

function toLine(text: string): Buffer {
  const line = Buffer.from(text.replaceAll(/[\r\n]+/g, ' ')).subarray(0, MAX_ANSWER_BYTES - 1);
  return Buffer.concat([line, Buffer.from('\n')]);
}

/** Returns false while the pipe is full. */
function writeTo(pid: number, line: Buffer): boolean {
  let pipe: number | null = null;
  try {
    pipe = openSync(`/proc/${pid}/fd/4`, constants.O_WRONLY | constants.O_NONBLOCK);
    writeSync(pipe, line);
    return true;
  } catch (error) {
    // A missing pipe means that the shim has ended, which the caller checks.
    return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
  } finally {
    if (pipe !== null) closeSync(pipe);
  }
}
