/**
 * The deadline of an attempt, for stores that other nodes share: when it passes and nobody has put it off, the watch
 * beside the shim (deadline.sh) ends the attempt, so that a node that crashed never leaves two copies running.
 *
 * It must be there before the start. It is written in seconds since boot, which no clock step can move.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { filesOf } from './attempt-files.ts';

/** In so many ms from now, to the second below: an attempt that ends early is better than two that overlap. */
export function putDeadline(folder: string, inMs: number): void {
  const { deadline } = filesOf(folder);
  const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  writeFileSync(`${deadline}.new`, `${Math.floor(uptime + inMs / 1000)}\n`, { mode: 0o600 });
  renameSync(`${deadline}.new`, deadline);
}
