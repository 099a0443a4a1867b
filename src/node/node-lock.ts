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

/** A link appears whole or not at all, and only once. */
function take(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Holder;
    if (holder.boot === bootIdentity() && isAlive(holder)) {
      throw new LonghaulError(
        'store-unavailable',
        `another node (pid ${holder.pid}) runs on this home: stop it first, or name another home`,
      );
    }
    rmSync(path, { force: true });
    linkSync(draft, path);
  }
}
