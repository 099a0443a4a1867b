/**
 * A power cut under a SQLite store: its file system stops without writing its journal, all processes are killed, and after
 * a new mount everything starts again. What was confirmed before the cut must be there.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicMs } from '../../faults/ledger.ts';
import { compileProgram } from '../../support/preload-library.ts';
import { markedPids } from '../marked-processes.ts';
import type { Stage } from '../stage.ts';
import type { FaultKind } from './fault-kind.ts';

const WAIT_MS = 10_000;
const POLL_MS = 50;

export const powerCut: FaultKind = {
  name: 'power-cut',
  effect: 'power',
  needs: ['sqlite', 'small disk', 'compiler'],
  inject: async ({ stage }) => {
    if (stage.isDiskTaken || stage.isQuiet) return null;
    stage.isDiskTaken = true;
    stage.isQuiet = true;
    try {
      return (await isFree(stage)) ? await cutPower(stage) : null;
    } finally {
      stage.isDiskTaken = false;
      stage.isQuiet = false;
    }
  },
};

/** Other faults end first: a process that one of them starts would hold the disk. */
async function isFree({ members }: Stage): Promise<boolean> {
  for (const endAt = monotonicMs() + WAIT_MS; monotonicMs() < endAt; await sleep(POLL_MS)) {
    if (members.some(({ isTaken }) => isTaken)) continue;
    await Promise.all(members.map((member) => member.start()));
    return true;
  }
  return false;
}

async function cutPower(stage: Stage) {
  const program = compileProgram('power-cut', stage.folder);
  const pids = stage.members.flatMap(({ running }) => (running === null ? [] : [running.pid]));
  await stage.longhaul.close().catch(() => undefined);
  // Only what was confirmed before the call began must survive; the call takes some milliseconds.
  const [from, cutAt] = [monotonicMs(), performance.now()];
  execFileSync(program, [stage.disk]);
  const ms = performance.now() - cutAt;
  await Promise.all(stage.members.map((member) => member.kill9()));
  await remount(stage);
  await stage.connect();
  await Promise.all(stage.members.map((member) => member.start()));
  return { from, pids, detail: `${pids.length} processes, the cut took ${ms.toFixed(1)} ms` };
}

/** Scripts and commands that were running hold the disk until they are killed too. */
async function remount({ disk, folder }: Stage): Promise<void> {
  for (const endAt = monotonicMs() + WAIT_MS; ; await sleep(POLL_MS)) {
    for (const pid of markedPids(folder)) kill9(pid);
    try {
      execFileSync('umount', [disk], { stdio: 'pipe' });
      break;
    } catch (error) {
      if (monotonicMs() > endAt) throw error;
    }
  }
  execFileSync('mount', ['-o', 'loop', join(folder, 'disk.img'), disk], { stdio: 'pipe' });
}

/** A process that ended meanwhile is what was wanted. */
function kill9(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
