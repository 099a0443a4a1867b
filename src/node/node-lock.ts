/**
 * One node a home. The lock names its holder by pid, start time and boot, so that a crash leaves nothing to clean up and
 * a pid that was given again holds nothing.
 */
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { LonghaulError } from '../core/errors.ts';
import { bootIdentity, isAlive, readStat } from '../runner/process-stat.ts';

export interface NodeLock {
  release(): void;
}

interface Holder {
  readonly pid: number;
  readonly start: number;
  readonly boot: string;
}

export function takeNodeLock(path: string): NodeLock {
  const { pid, start } = readStat('self') ?? { pid: process.pid, start: 0 };
  const me: Holder = { pid, start, boot: bootIdentity() };
  const draft = `${path}.${me.pid}`;
  writeFileSync(draft, JSON.stringify(me), { mode: 0o600 });
  try {
    take(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
  return { release: () => rmSync(path, { force: true }) };
}

/** The pid of the node that runs on this home; null when none does. */
export function nodeOn(path: string): number | null {
  const holder = readHolder(path);
  return holder !== null && holder.boot === bootIdentity() && isAlive(holder) ? holder.pid : null;
}

/** Throws when a node runs there: for whoever must be alone and does not want the lock itself. */
export function refuseRunningNode(path: string): void {
  const pid = nodeOn(path);
  if (pid !== null)
    throw new LonghaulError(
      'bad-input',
      `another node (pid ${pid}) runs on this home: stop it first, or name another home`,
    );
}

/** A link appears whole or not at all, and only once. */
function take(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    refuseRunningNode(path);
    rmSync(path, { force: true });
    linkSync(draft, path);
  }
}

/** A file that says nothing, after a power cut or a full disk, holds nothing. */
function readHolder(path: string): Holder | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
