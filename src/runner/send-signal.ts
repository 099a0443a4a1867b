/**
 * Signals to processes that were seen before.
 *
 * Invariant: a process is signalled only if its start time, read right before, is the one that was seen. A number
 * that another process has got since is left alone.
 */
import type { ProcessKey } from './attempt-files.ts';
import { isLiving, readStat } from './process-stat.ts';

/** Whether it was there to be signalled. */
export function sendSignal({ pid, start }: ProcessKey, signal: NodeJS.Signals): boolean {
  const stat = readStat(pid);
  if (stat === null || stat.start !== start || !isLiving(stat)) return false;
  return kill(pid, signal);
}

/** The whole group at once, also what it forks meanwhile. For a group all of whose members were found to belong. */
export function sendToGroup(group: number, signal: NodeJS.Signals): boolean {
  return kill(-group, signal);
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It ended in between, or it is somebody else's: then it stays, and is counted as left.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}
