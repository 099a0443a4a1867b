/** Finds the processes of a run in /proc: all of them have its folder in their environment. */
import { readdirSync, readFileSync } from 'node:fs';

export function markedPids(folder: string): readonly number[] {
  const pids = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && Number(pid) !== process.pid);
  return pids.filter((pid) => isMarked(readProc(pid, 'environ'), folder)).map(Number);
}

/** Scripts have a mark of their own, which begins with the data directory of their node. */
const isMarked = (environment: string, folder: string): boolean =>
  environment.includes(`LONGHAUL_CHAOS=${folder}\0`) || environment.includes(`LONGHAUL_ATTEMPT_MARK=${folder}`);

export const commandOf = (pid: number): string => readProc(String(pid), 'cmdline').replaceAll('\0', ' ').slice(0, 200);

/** Empty for a process that has ended. */
function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
