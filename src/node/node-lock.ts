/**
 * One node a home. The lock names its holder by pid, start time and boot, so that a crash leaves nothing to clean up and
 * a pid that was given again holds nothing.
 *
 *     free ──link──▶ held ──its holder dies──▶ dead ──claimed by one alone, renamed over──▶ held
 *
 * Invariant: a dead lock is never removed, only replaced, and only by whoever holds the claim on that very holder: of many
 * nodes that find it dead at once, one takes it.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { LonghaulError } from '../core/ports/errors.ts';
import { bootIdentity, isAlive, readStat } from '../runner/process-tree/process-stat.ts';

export interface NodeLock {
  release(): void;
}

/** A process, and not another one that was given its pid later. */
export interface Holder {
  readonly pid: number;
  readonly start: number;
  readonly boot: string;
}

export function takeNodeLock(path: string): NodeLock {
  const me = thisProcess();
  const draft = `${path}.${me.pid}`;
  writeFileSync(draft, JSON.stringify(me), { mode: 0o600 });
  try {
    take(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}

export function thisProcess(): Holder {
  const { pid, start } = readStat('self') ?? { pid: process.pid, start: 0 };
  return { pid, start, boot: bootIdentity() };
}

/** Whether that process lives. */
export const isHolding = (holder: Holder): boolean => holder.boot === bootIdentity() && isAlive(holder);

/** The pid of the node that runs on this home; null when none does. */
export function nodeOn(path: string): number | null {
  return holderIn(textOf(path));
}

/** Throws when a node runs there: for whoever must be alone and does not want the lock itself. */
export function refuseRunningNode(path: string): void {
  refuse(nodeOn(path));
}

function refuse(pid: number | null): void {
  if (pid !== null)
    throw new LonghaulError(
      'bad-input',
      `another node (pid ${pid}) runs on this home: stop it first, or name another home`,
    );
}

/** Others start and end at the same time: so often the state of things may change under our eyes. */
const MOST_TRIES = 100;

/** A link appears whole or not at all, and only once. */
function take(draft: string, path: string): void {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    try {
      linkSync(draft, path);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const found = textOf(path);
    refuse(holderIn(found));
    if (found !== null && replaced(draft, path, found)) return;
  }
  throw new LonghaulError('bad-input', 'other nodes start and stop on this home all the time: name another home');
}

/**
 * Whoever has the claim on this dead holder is the only one to replace it; the claim is a lock like any other, so that one
 * who dies with it leaves it to the next. False when somebody was faster: the lock is another one now.
 */
function replaced(draft: string, path: string, dead: string): boolean {
  const claim = `${path}.after-${createHash('sha256').update(`${path}\n${dead}`).digest('hex').slice(0, 16)}`;
  take(draft, claim);
  try {
    if (textOf(path) !== dead) return false;
    // Another one: the draft may be wanted again, for the lock that this one is the claim on.
    copyFileSync(draft, `${draft}.over`);
    renameSync(`${draft}.over`, path);
    return true;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Null: there is no such file. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** The pid of a holder that lives. A file that says nothing, after a power cut or a full disk, holds nothing. */
function holderIn(text: string | null): number | null {
  if (text === null) return null;
  try {
    const holder = JSON.parse(text) as Holder | null;
    return holder !== null && isHolding(holder) ? holder.pid : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
