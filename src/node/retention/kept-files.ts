/**
 * What this node keeps of jobs in files, by queue: logs and attachments, in numbers of jobs and in bytes.
 *
 * Counted whole by the sweep, and kept up as logs and attachments are taken. It is null until the first sweep: nobody goes through all
 * files because somebody asks.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Held } from '../../core/statistics/storage.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import type { Home } from '../home.ts';
import { jobFolder } from '../home.ts';

export const FILE_KINDS = ['logs', 'attachments'] as const;
export type FileKind = (typeof FILE_KINDS)[number];
export type QueueFiles = Readonly<Record<FileKind, Held>>;

const NONE: Held = { count: 0, bytes: 0 };

export class KeptFiles {
  #sums: ReadonlyMap<string, QueueFiles> | null = null;

  queues(): readonly string[] {
    return [...(this.#sums?.keys() ?? [])];
  }

  of(queue: string): QueueFiles | null {
    return this.#sums === null ? null : (this.#sums.get(queue) ?? { logs: NONE, attachments: NONE });
  }

  /** What a whole count has found takes the place of what was known. */
  replace(sums: ReadonlyMap<string, QueueFiles>): void {
    this.#sums = sums;
  }

  /** Added, or with `sign` -1 gone. Nothing before the first count. */
  change(queue: string, kind: FileKind, by: Held, sign: 1 | -1): void {
    if (this.#sums === null) return;
    const sums = new Map(this.#sums);
    countIn(sums, queue, kind, { count: sign * by.count, bytes: sign * by.bytes });
    this.#sums = sums;
  }
}

export function countIn(sums: Map<string, QueueFiles>, queue: string, kind: FileKind, by: Held): void {
  const before = sums.get(queue) ?? { logs: NONE, attachments: NONE };
  const count = Math.max(0, before[kind].count + by.count);
  const bytes = Math.max(0, before[kind].bytes + by.bytes);
  sums.set(queue, { ...before, [kind]: { count, bytes } });
}

/** The logs of all attempts of a job; a job without any counts for nothing. */
export async function logsOf(home: Home, id: string): Promise<Held> {
  const logs = await logPaths(home, id);
  const found = await Promise.all(logs.map((path) => stat(path).catch(() => null)));
  const sizes = found.flatMap((each) => each?.size ?? []);
  return { count: sizes.length === 0 ? 0 : 1, bytes: sizes.reduce((sum, size) => sum + size, 0) };
}

/** Of attempts up to this one: a later one may just have begun. */
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
