/**
 * Sends signals to processes that were seen before.
 *
 * Invariant: a process is signalled only if its start time, read right before, is the one that was seen. A pid that was
 * reassigned is left alone.
 */
import type { ProcessKey } from '../attempt/attempt-files.ts';
import { shimSession } from './membership.ts';
import { isLiving, type ProcessStat, readStat } from './process-stat.ts';
import { listProcesses } from './process-survey.ts';

/** How often a stopped process is checked: it stops at the end of its current system call. */
const MAX_CHECKS = 10_000;

/** Returns whether the process existed. */
export function sendSignal({ pid, start }: ProcessKey, signal: NodeJS.Signals): boolean {
  const stat = readStat(pid);
  if (stat === null || stat.start !== start || !isLiving(stat)) return false;
  return kill(pid, signal);
}

/** Signals a whole group, including processes it forks meanwhile. Only for a group whose members all belong. */
export function sendToGroup(group: number, signal: NodeJS.Signals): boolean {
  return kill(-group, signal);
}

function kill(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // It ended meanwhile, or it belongs to another user: then it counts as left.
    if (code === 'ESRCH' || code === 'EPERM') return false;
    throw error;
  }
}

/**
 * Stops the helpers of a shim while a function changes the file they write. An adopting node calls `resumeHelpers`
 * first, in case the previous node died here.
 */
export function withHelpersPaused<T>(shim: ProcessKey, act: () => T): T {
  const helpers = helpersOf(shim);
  for (const helper of helpers) sendSignal(helper, 'SIGSTOP');
  for (let check = 0; check < MAX_CHECKS && helpers.some(isRunning); check += 1) continue;
  try {
    return act();
  } finally {
    for (const helper of helpers) sendSignal(helper, 'SIGCONT');
  }
}

/** Resumes helpers of a shim that were left stopped. */
export function resumeHelpers(shim: ProcessKey): void {
  for (const helper of helpersOf(shim)) if (helper.state === 'T') sendSignal(helper, 'SIGCONT');
}

/** Returns the processes that the shim started for itself; the script is in another session. */
function helpersOf(shim: ProcessKey): ProcessStat[] {
  const all = listProcesses().map((pid) => readStat(pid));
  const session = shimSession(
    all.filter((each) => each !== null),
    { boot: '', shim, script: null },
  );
  return session.filter((each) => each.pid !== shim.pid && each.parent === shim.pid && isLiving(each));
}

function isRunning({ pid, start }: ProcessStat): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.start === start && isLiving(stat) && stat.state !== 'T';
}
