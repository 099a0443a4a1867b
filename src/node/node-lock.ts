/**
 * Lock that allows one node per data directory. It names its holder by pid, start time and boot id, so that a crash
 * leaves nothing to clean up and a reused pid holds nothing.
 *
 *     free ──link──▶ held ──holder dies──▶ stale ──claimed by one process, renamed over──▶ held
 *
 * Invariant: a stale lock is never removed, only replaced, and only by the process that holds the claim on that holder.
 * Of many nodes that find it stale at once, one takes it.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { LonghaulError } from '../core/ports/errors.ts';
import { bootIdentity, isAlive, readStat } from '../runner/process-tree/process-stat.ts';

export interface NodeLock {
  release(): void;
}

/** A process, told apart from a later one with the same pid. */
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

/** Returns whether that process is alive. */
export const isHolding = (holder: Holder): boolean => holder.boot === bootIdentity() && isAlive(holder);

/** Returns the pid of the node that uses this data directory, or null. */
export function nodeOn(path: string): number | null {
  return holderIn(textOf(path));
}

/** Throws when a node uses the data directory. For callers that need exclusive use without the lock. */
export function refuseRunningNode(path: string): void {
  refuse(nodeOn(path));
}

function refuse(pid: number | null): void {
  if (pid !== null)
    throw new LonghaulError(
      'bad-input',
      `another node (pid ${pid}) uses this data directory: stop it first, or choose another with --home`,
    );
}

/** Other nodes start and stop concurrently: limits how often the lock may change during one call. */
const MAX_TRIES = 100;

/** `link` is atomic, and fails when the path exists. */
function take(draft: string, path: string): void {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
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
  throw new LonghaulError(
    'bad-input',
    'other nodes keep starting and stopping on this data directory: choose another with --home',
  );
}

/**
 * Replaces the lock of a dead holder. Only the holder of the claim may do so. The claim is a lock of the same kind, so
 * the claim of a process that dies passes to the next. Returns false when another process was faster and the lock has
 * changed.
 */
function replaced(draft: string, path: string, dead: string): boolean {
  const claim = `${path}.after-${createHash('sha256').update(`${path}\n${dead}`).digest('hex').slice(0, 16)}`;
  take(draft, claim);
  try {
    if (textOf(path) !== dead) return false;
    // A copy: the draft may be needed again, for the lock that this claim guards.
    copyFileSync(draft, `${draft}.over`);
    renameSync(`${draft}.over`, path);
    return true;
  } finally {
    rmSync(claim, { force: true });
  }
}

/** Returns null when the file does not exist. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Returns the pid of a live holder. An empty or damaged file, after a power cut or a full disk, holds nothing. */
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
