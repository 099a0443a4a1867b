/**
 * A listing of all processes of the machine, shared by concurrent callers.
 *
 * The newest come first: a process that forks and exits all the time is among them, and fewer escape the less time
 * passes between listing and reading. The walk yields between slices, so a machine with thousands of processes does not
 * block the event loop. Traces of a single process are read on demand, once.
 */
import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MARK_VARIABLE } from '../attempt/start-request.ts';
import { lastPid, type ProcessStat, readLiving } from './process-stat.ts';
import { placesOf, readEnvironment } from './process-traces.ts';

const SLICE = 200;

/** Traces that must be read from the process itself. */
export interface Traces {
  /** Returns the attempt mark in the environment of a process; null for none. */
  markOf(pid: number): string | null;
  /** Returns the working directory of a process, the files it writes and its pipes. */
  placesOf(pid: number): readonly string[];
}

export interface Survey extends Traces {
  /** The processes without knownZombies: a zombie holds nothing, and may never be reaped. */
  readonly all: readonly ProcessStat[];
  /** The last pid assigned before the listing. A later process may be missing from it. */
  readonly lastPid: number;
}

/** Lists pids, the newest first, without known knownZombies. */
export function listProcesses(): number[] {
  expireZombies(lastPid());
  const pids = readdirSync('/proc').map(Number);
  return pids.filter((pid) => pid > 0 && !knownZombies.pids.has(pid)).sort((a, b) => b - a);
}

/**
 * Where the init process does not reap, thousands of knownZombies may exist, and reading all of them each time would cost
 * more than everything else. A pid stays a zombie until pids wrap around, which the last assigned pid reveals.
 */
const knownZombies = { pids: new Set<number>(), lastPid: 0, forgetAt: 0 };
const ZOMBIES_KEPT_MS = 5_000;

function expireZombies(newest: number): void {
  if (newest < knownZombies.lastPid || performance.now() > knownZombies.forgetAt) {
    knownZombies.pids.clear();
    knownZombies.forgetAt = performance.now() + ZOMBIES_KEPT_MS;
  }
  knownZombies.lastPid = newest;
}

async function makeSurvey(): Promise<Survey> {
  const all: ProcessStat[] = [];
  const newest = lastPid();
  for (const [index, pid] of listProcesses().entries()) {
    if (index % SLICE === SLICE - 1) await nextTurn();
    const stat = readLiving(pid);
    if (stat === 'zombie') knownZombies.pids.add(pid);
    else if (stat !== null) all.push(stat);
  }
  const marks = new Map<number, string | null>();
  const places = new Map<number, readonly string[]>();
  return {
    all,
    lastPid: newest,
    markOf: (pid) => readOnce(marks, pid, () => readEnvironment(pid, MARK_VARIABLE)),
    placesOf: (pid) => readOnce(places, pid, () => placesOf(pid)),
  };
}

function readOnce<T>(cache: Map<number, T>, pid: number, read: () => T): T {
  const known = cache.get(pid);
  if (known !== undefined) return known;
  const value = read();
  cache.set(pid, value);
  return value;
}

let next: Promise<Survey> | null = null;

/** Returns a listing that starts after this call. Callers before its start share it. */
export function takeSurvey(): Promise<Survey> {
  next ??= nextTurn().then(() => {
    next = null;
    return makeSurvey();
  });
  return next;
}
