/**
 * Sizes of this node's job files by queue: logs and attachments, as numbers of jobs and bytes.
 *
 * The sweep counts them all, and removals update the counts. Null until the first sweep: a request never triggers a
 * full count.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { StoredSize } from '../../core/statistics/storage.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import type { Home } from '../home.ts';
import { jobFolder } from '../home.ts';

export const FILE_KINDS = ['logs', 'attachments'] as const;
export type FileKind = (typeof FILE_KINDS)[number];
export type QueueFiles = Readonly<Record<FileKind, StoredSize>>;

const NONE: StoredSize = { count: 0, bytes: 0 };

export class KeptFiles {
  #sums: ReadonlyMap<string, QueueFiles> | null = null;

  queues(): readonly string[] {
    return [...(this.#sums?.keys() ?? [])];
  }

  of(queue: string): QueueFiles | null {
    return this.#sums === null ? null : (this.#sums.get(queue) ?? { logs: NONE, attachments: NONE });
  }

  /** Replaces the counts with those of a sweep. */
  replace(sums: ReadonlyMap<string, QueueFiles>): void {
    this.#sums = sums;
  }

  /** Adds, or subtracts with `sign` -1. Does nothing before the first sweep. */
  change(queue: string, kind: FileKind, by: StoredSize, sign: 1 | -1): void {
    if (this.#sums === null) return;
    const sums = new Map(this.#sums);
    countIn(sums, queue, kind, { count: sign * by.count, bytes: sign * by.bytes });
    this.#sums = sums;
  }
}

export function countIn(sums: Map<string, QueueFiles>, queue: string, kind: FileKind, by: StoredSize): void {
  const before = sums.get(queue) ?? { logs: NONE, attachments: NONE };
  const count = Math.max(0, before[kind].count + by.count);
  const bytes = Math.max(0, before[kind].bytes + by.bytes);
  sums.set(queue, { ...before, [kind]: { count, bytes } });
}

/** Returns the size of the logs of all attempts of a job; count 0 for a job without logs. */
export async function logsOf(home: Home, id: string): Promise<StoredSize> {
  const logs = await logPaths(home, id);
  const found = await Promise.all(logs.map((path) => stat(path).catch(() => null)));
  const sizes = found.flatMap((each) => each?.size ?? []);
  return { count: sizes.length === 0 ? 0 : 1, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Removes the logs of attempts up to this one: a later one may just have started. */
export async function removeLogs(home: Home, id: string, lastAttempt: number): Promise<void> {
  for (const path of await logPaths(home, id, lastAttempt)) {
    await rm(path, { force: true });
    await rm(`${path}.index`, { force: true });
  }
}

async function logPaths(home: Home, id: string, lastAttempt = Number.POSITIVE_INFINITY): Promise<readonly string[]> {
  const attempts = join(jobFolder(home, id), 'attempts');
  const names = await readdir(attempts).catch((): string[] => []);
  return names.filter((name) => Number(name) <= lastAttempt).map((name) => filesOf(join(attempts, name)).log);
}
