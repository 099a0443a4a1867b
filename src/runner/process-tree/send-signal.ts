/**
 * Signals to processes that were seen before.
 *
 * Invariant: a process is signalled only if its start time, read right before, is the one that was seen. A number
 * that another process has got since is left alone.
 */
import type { ProcessKey } from '../attempt/attempt-files.ts';
import { shimSession } from './membership.ts';
import { isLiving, type ProcessStat, readStat } from './process-stat.ts';
import { listProcesses } from './process-survey.ts';

/** How often a process that was stopped is looked at: it stops at the end of the call it is in. */
const MOST_LOOKS = 10_000;

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
    // It ended in between, or it belongs to another user: then it stays, and is counted as left.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/**
 * Stops the helpers of a shim for a moment, while something is done to the file they write. A node that adopts the
 * attempt calls `letGoOn` first, in case the last one died here.
 */
export function holdStill<T>(shim: ProcessKey, act: () => T): T {
  const helpers = helpersOf(shim);
  for (const helper of helpers) sendSignal(helper, 'SIGSTOP');
  for (let look = 0; look < MOST_LOOKS && helpers.some(isMoving); look += 1) continue;
  try {
    return act();
  } finally {
    for (const helper of helpers) sendSignal(helper, 'SIGCONT');
  }
}

export function letGoOn(shim: ProcessKey): void {
  for (const helper of helpersOf(shim)) if (helper.state === 'T') sendSignal(helper, 'SIGCONT');
}

/** What the shim started for itself: the script is in another session. */
function helpersOf(shim: ProcessKey): ProcessStat[] {
  const all = listProcesses().map((pid) => readStat(pid));
  const session = shimSession(
    all.filter((each) => each !== null),
    { boot: '', shim, script: null },
  );
  return session.filter((each) => each.pid !== shim.pid && each.parent === shim.pid && isLiving(each));
}

function isMoving({ pid, start }: ProcessStat): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.start === start && isLiving(stat) && stat.state !== 'T';
}
