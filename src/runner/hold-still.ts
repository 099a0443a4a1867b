/**
 * Lets the helpers of a shim stand still while something is done to the file they write.
 *
 * They are stopped for a moment only. Whoever takes an attempt up lets them go on first, in case somebody died here.
 */
import type { ProcessKey } from './attempt-files.ts';
import { shimSession } from './belonging.ts';
import { isLiving, type ProcessStat, readStat } from './process-stat.ts';
import { sendSignal } from './send-signal.ts';
import { listProcesses } from './survey.ts';

/** A stopped process is stopped at the end of the call it is in. */
const MOST_LOOKS = 10_000;

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
