/**
 * One look at all processes of the machine, shared by everybody who wants one at the same time.
 *
 * The newest come first, since one that ends and begins anew all the time is among them, and the less time passes
 * between the listing and the reading of a process, the less of them escape. It is made in slices, so that a machine
 * with thousands of processes blocks nobody. What must be read of a process itself is read when it is asked for, once.
 */
import { readdirSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MARK } from '../attempt/start-order.ts';
import { lastPid, type ProcessStat, readLiving } from './process-stat.ts';
import { placesOf, readEnvironment } from './process-traces.ts';

const SLICE = 200;

/** What must be read of a process itself to know where it is from. */
export interface Traces {
  /** The attempt's mark in the environment of a process; null for none. */
  markOf(pid: number): string | null;
  /** Where a process works, and which files it has open for writing. */
  placesOf(pid: number): readonly string[];
}

export interface Survey extends Traces {
  /** Without zombies: they hold nothing and do nothing, and whoever should reap them may never come. */
  readonly all: readonly ProcessStat[];
  /** The last number that was given out before the listing: what was born meanwhile may not be in it. */
  readonly lastPid: number;
}

/** Pids, the newest first, without those that are known to be zombies. */
export function listProcesses(): number[] {
  forgetZombiesInTime(lastPid());
  const pids = readdirSync('/proc').map(Number);
  return pids.filter((pid) => pid > 0 && !zombies.pids.has(pid)).sort((a, b) => b - a);
}

/**
 * Where the first process of a machine or a container reaps nobody there may be thousands of zombies, and reading all
 * of them at every look would cost more than all else. One stays a zombie for as long as its number is its own: until
 * the numbers that the kernel gives out, of which it tells the last one, have begun anew.
 */
const zombies = { pids: new Set<number>(), lastPid: 0, forgetAt: 0 };
const ZOMBIES_KEPT_MS = 5_000;

function forgetZombiesInTime(newest: number): void {
  if (newest < zombies.lastPid || performance.now() > zombies.forgetAt) {
    zombies.pids.clear();
    zombies.forgetAt = performance.now() + ZOMBIES_KEPT_MS;
  }
  zombies.lastPid = newest;
}

async function makeSurvey(): Promise<Survey> {
  const all: ProcessStat[] = [];
  const newest = lastPid();
  for (const [index, pid] of listProcesses().entries()) {
    if (index % SLICE === SLICE - 1) await nextTurn();
    const stat = readLiving(pid);
    if (stat === 'zombie') zombies.pids.add(pid);
    else if (stat !== null) all.push(stat);
  }
  const marks = new Map<number, string | null>();
  const places = new Map<number, readonly string[]>();
  return {
    all,
    lastPid: newest,
    markOf: (pid) => readOnce(marks, pid, () => readEnvironment(pid, MARK)),
    placesOf: (pid) => readOnce(places, pid, () => placesOf(pid)),
  };
}

function readOnce<T>(memory: Map<number, T>, pid: number, read: () => T): T {
  const known = memory.get(pid);
  if (known !== undefined) return known;
  const value = read();
  memory.set(pid, value);
  return value;
}

let next: Promise<Survey> | null = null;

/** A look that begins after this call. Those who ask before it begins get the same one. */
export function takeSurvey(): Promise<Survey> {
  next ??= nextTurn().then(() => {
    next = null;
    return makeSurvey();
  });
  return next;
}
