/** One look at all processes of the machine, in slices, so that a machine with thousands of them blocks nobody. */
import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isLiving, type ProcessStat, readStat } from './process-stat.ts';

const SLICE = 200;

/** Zombies are left out: they hold nothing and do nothing, and whoever should reap them may never come. */
export async function walkProcesses(): Promise<ProcessStat[]> {
  const pids = readdirSync('/proc').filter((name) => name.charCodeAt(0) >= 0x30 && name.charCodeAt(0) <= 0x39);
  const found: ProcessStat[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % SLICE === SLICE - 1) await nextTurn();
    const stat = readStat(pid);
    if (stat !== null && isLiving(stat)) found.push(stat);
  }
  return found;
}
