/** The facts of an attempt at its end that the watcher did not observe itself: from file times and the kernel. */
import { statSync } from 'node:fs';
import { groupOverMemory } from '../process-tree/cgroups.ts';
import { readOomKills } from './accounting.ts';
import type { AttemptEnd, Oom, OverMemory } from './attempt.ts';
import { type AttemptFiles, type Exit, readIfExists } from './attempt-files.ts';

export interface ObservedEnd extends Pick<AttemptEnd, 'exit' | 'said' | 'usage'> {
  /** OOM kills of the kernel at the start of the attempt; null when they were not read. */
  readonly oomKills: number | null;
  /** This runner terminated the attempt. */
  readonly isTerminated: boolean;
  /** Null when there is none, or none any more. */
  readonly cgroup: string | null;
}

export function toEnd(files: AttemptFiles, { oomKills, isTerminated, cgroup, ...observed }: ObservedEnd): AttemptEnd {
  const overMemory = readOverMemory(files) ?? (observed.exit?.status === 0 ? null : groupOverMemory(cgroup));
  return {
    ...observed,
    overMemory,
    oom: overMemory !== null ? 'limit' : isTerminated ? 'no' : oomOf(observed.exit, oomKills),
    isOverdue: timeOf(files.overdue) !== null,
    startedAt: timeOf(files.pid) ?? Date.now(),
    // Until the end, `exit` only reserves space, and its time means nothing.
    endedAt: (observed.exit && timeOf(files.exit)) ?? Date.now(),
  };
}

/** The file is from this runner or from an earlier one. An incomplete file has the facts of none. */
function readOverMemory({ overMemory }: AttemptFiles): OverMemory | null {
  const [, used, limit] = /^(\d+) (\d+)\n$/.exec(readIfExists(overMemory) ?? '') ?? [];
  return used === undefined ? null : { usedBytes: Number(used), limitBytes: Number(limit) };
}

function oomOf(exit: Exit | null, before: number | null): Oom {
  if (exit?.signal !== 'SIGKILL') return 'no';
  const now = readOomKills();
  if (now === null || before === null) return 'unknown';
  return now > before ? 'likely' : 'no';
}

const timeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
