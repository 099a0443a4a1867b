/** Identifies a process by its pid and start time: the system reuses a pid, but not together with the start time. */
import { readFileSync } from 'node:fs';

/** Returns when the process started, in ticks since boot; '0' if the system does not tell; null if it does not run. */
export function startTimeOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may contain any character; the fields are counted from its end.
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
