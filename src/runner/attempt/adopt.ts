/**
 * Decides what happened to an attempt, from its directory and /proc alone. Used by a node that restarts, and after a
 * start whose runner process died.
 *
 *   no `pid`, and we create it first   never-started: a shim that comes late finds the file and exits
 *   `pid` contains "withdrawn"         never-started
 *   the shim is alive                  running
 *   `exit` is complete                 ended
 *   `pid` of another boot              other-boot: its pids name other processes now, so no signal is sent
 *   otherwise                          died: the shim ended without writing `exit`; its script may still run
 *
 * Invariant: a process is believed to be the recorded one only if pid, start time and boot agree.
 */
import { realpathSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { bootIdentity, isAlive } from '../process-tree/process-stat.ts';
import { listProcesses } from '../process-tree/process-survey.ts';
import { placesOf } from '../process-tree/process-traces.ts';
import { type Exit, filesOf, type PidRecord, parsePid, readExit, readIfExists, WITHDRAWN } from './attempt-files.ts';

export type Adoption =
  | { readonly state: 'running'; readonly record: PidRecord }
  | { readonly state: 'ended'; readonly exit: Exit; readonly record: PidRecord | null }
  | { readonly state: 'never-started' }
  | { readonly state: 'died'; readonly record: PidRecord | null }
  | { readonly state: 'other-boot'; readonly record: PidRecord };

/** How long a shim that was seen may take to write its line. */
const RECORD_WAIT_MS = 5_000;
const POLL_MS = 20;

export async function adopt(folder: string): Promise<Adoption> {
  if (withdraw(folder)) return { state: 'never-started' };
  for (const until = performance.now() + RECORD_WAIT_MS; ; await sleep(POLL_MS)) {
    const text = readIfExists(filesOf(folder).pid) ?? '';
    if (text === WITHDRAWN) return { state: 'never-started' };
    const record = parsePid(text);
    if (record) return decide(folder, record);
    // A shim is visible between creating the file and writing it. Without a shim the file stays empty forever.
    if (performance.now() > until || !hasShim(folder)) return decideAgain(folder);
  }
}

/** Creates `pid` in place of the shim. True: this attempt was never started and never will be. */
export function withdraw(folder: string): boolean {
  try {
    writeFileSync(filesOf(folder).pid, WITHDRAWN, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Decides from the current state, without waiting. */
export function decide(folder: string, record: PidRecord): Adoption {
  const isHere = record.boot === bootIdentity();
  if (isHere && isAlive(record.shim)) return { state: 'running', record };
  // Read after the liveness check: a dead shim writes nothing more.
  const exit = readExit(folder);
  if (exit) return { state: 'ended', exit, record };
  return isHere ? { state: 'died', record } : { state: 'other-boot', record };
}

/** The shim may have written its line between our read of the file and our walk over the processes. */
function decideAgain(folder: string): Adoption {
  const record = parsePid(readIfExists(filesOf(folder).pid) ?? '');
  return record ? decide(folder, record) : { state: 'died', record: null };
}

/** Reports whether a process is about to write the file. */
function hasShim(folder: string): boolean {
  const path = realpathSync(filesOf(folder).pid);
  return listProcesses().some((pid) => pid !== process.pid && placesOf(pid).includes(path));
}
