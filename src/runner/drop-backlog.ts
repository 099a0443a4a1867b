/**
 * Keeps a script that speaks without end from filling the disk: when far more was said than was read, the unread part
 * is dropped, but for its end, and reading goes on from where it was.
 *
 * What is written between the two steps is lost with the rest. That is no loss of order: whatever remains stands in
 * the file as it was said, also for the next reader.
 */
import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

export const BACKLOG_LIMIT = 64 * 1024 * 1024;
const KEPT_BYTES = 64 * 1024;
const newline = 0x0a;

/** Cuts off what is beyond this offset, but for its end. Answers how many bytes were dropped. */
export function dropBacklog(path: string, keptTo: number): number {
  const file = openSync(path, constants.O_RDWR | constants.O_APPEND);
  try {
    const { size: now } = fstatSync(file);
    const tail = Buffer.allocUnsafe(KEPT_BYTES);
    const length = readSync(file, tail, 0, KEPT_BYTES, now - KEPT_BYTES);
    // From its first whole line on; the newline before it ends the line that was being read when the rest went.
    const from = Math.max(0, tail.subarray(0, length).indexOf(newline));
    ftruncateSync(file, keptTo);
    writeSync(file, tail, from, length - from);
    return now - keptTo - (length - from);
  } finally {
    closeSync(file);
  }
}
