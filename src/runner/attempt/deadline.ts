/**
 * The deadline of an attempt, for stores that several nodes share. When it passes without renewal, deadline.sh ends the
 * attempt, so a crashed node never leaves two copies running.
 *
 * The file must exist before the start. It contains seconds since boot, which no clock step can move.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { filesOf } from './attempt-files.ts';

/**
 * Sets the deadline to `inMs` from now, rounded down to a second: ending early is better than two overlapping attempts.
 */
export function writeDeadline(folder: string, inMs: number): void {
  const { deadline } = filesOf(folder);
  const uptime = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  writeFileSync(`${deadline}.new`, `${Math.floor(uptime + inMs / 1000)}\n`, { mode: 0o600 });
  renameSync(`${deadline}.new`, deadline);
}
