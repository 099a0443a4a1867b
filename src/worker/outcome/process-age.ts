/**
 * Whether the process that wrote a name is still the one that runs: a pid alone is given to another process sooner
 * or later, a pid with its start time is not.
 */
import { readFileSync } from 'node:fs';

/** Ticks since the machine's start at which the process began; '0' where the system does not say. */
export function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold anything; the fields are counted from behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isDead = fields[0] === 'Z' || fields[0] === 'X';
    return isDead ? null : (fields[19] ?? '0');
  } catch {
    return isAlive(pid) ? '0' : null;
  }
}

export function isSameProcess(pid: number, startTime: string): boolean {
  const now = startTimeOf(pid);
  return now !== null && (now === startTime || now === '0' || startTime === '0');
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
