/**
 * What became of an attempt, told from its folder and /proc alone: for a node that comes back, and for a start whose
 * runner process died.
 *
 *   no pid, and we made it first       never-started: the shim that comes late finds it and goes away
 *   pid says withdrawn                 never-started
 *   the shim lives                     running
 *   exit is whole                      ended
 *   pid of another boot                other-boot: its numbers name other processes now, so nothing is signalled
 *   else                               died: the shim went without a word; its script may still be there
 *
 * Invariant: a process is believed to be the recorded one only if pid, start time and boot agree.
 */
import { realpathSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootIdentity, isAlive } from '../process-tree/process-stat.ts';
import { listProcesses } from '../process-tree/process-survey.ts';
import { placesOf } from '../process-tree/process-traces.ts';
import { type Exit, filesOf, type PidRecord, parsePid, readExit, readIfThere, WITHDRAWN } from './attempt-files.ts';

export type Adoption =
  | { readonly state: 'running'; readonly record: PidRecord }
  | { readonly state: 'ended'; readonly exit: Exit; readonly record: PidRecord | null }
  | { readonly state: 'never-started' }
  | { readonly state: 'died'; readonly record: PidRecord | null }
  | { readonly state: 'other-boot'; readonly record: PidRecord };

/** How long a shim that was seen may take to write its line. */
const RECORD_WAIT_MS = 5_000;
const LOOK_EVERY_MS = 20;

export async function adopt(folder: string): Promise<Adoption> {
  if (withdraw(folder)) return { state: 'never-started' };
  for (const until = performance.now() + RECORD_WAIT_MS; ; await sleep(LOOK_EVERY_MS)) {
    const text = readIfThere(filesOf(folder).pid) ?? '';
    if (text === WITHDRAWN) return { state: 'never-started' };
    const record = parsePid(text);
    if (record) return judge(folder, record);
    // Between making the file and writing it, a shim is there to be seen; without one the file stays empty for ever.
    if (performance.now() > until || !hasShim(folder)) return lookAgain(folder);
  }
}

/** Takes the shim's place in the race. True: this attempt was never started and never will be. */
export function withdraw(folder: string): boolean {
  try {
    writeFileSync(filesOf(folder).pid, WITHDRAWN, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Decides at this moment, without waiting. */
export function judge(folder: string, record: PidRecord): Adoption {
  const isHere = record.boot === bootIdentity();
  if (isHere && isAlive(record.shim)) return { state: 'running', record };
  // After that look: a shim that was found gone has written all it will ever write.
  const exit = readExit(folder);
  if (exit) return { state: 'ended', exit, record };
  return isHere ? { state: 'died', record } : { state: 'other-boot', record };
}

/** The shim may have written between our look at the file and our look at the processes. */
function lookAgain(folder: string): Adoption {
  const record = parsePid(readIfThere(filesOf(folder).pid) ?? '');
  return record ? judge(folder, record) : { state: 'died', record: null };
}

/** Whether any process is about to write it. */
function hasShim(folder: string): boolean {
  const path = realpathSync(filesOf(folder).pid);
  return listProcesses().some((pid) => pid !== process.pid && placesOf(pid).includes(path));
}
