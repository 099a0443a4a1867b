/** The facts of an attempt at its end that the watcher did not observe itself: from file times and the kernel. */
import { statSync } from 'node:fs';
import { readOomKills } from './accounting.ts';
import type { AttemptEnd, Oom } from './attempt.ts';
import type { AttemptFiles, Exit } from './attempt-files.ts';

export interface ObservedEnd extends Pick<AttemptEnd, 'exit' | 'said' | 'usage'> {
  /** OOM kills of the kernel at the start of the attempt; null when they were not read. */
  readonly oomKills: number | null;
  /** This runner terminated the attempt. */
  readonly isTerminated: boolean;
}

export function toEnd(files: AttemptFiles, { oomKills, isTerminated, ...observed }: ObservedEnd): AttemptEnd {
  return {
    ...observed,
    oom: isTerminated ? 'no' : oomOf(observed.exit, oomKills),
    isOverdue: timeOf(files.overdue) !== null,
    startedAt: timeOf(files.pid) ?? Date.now(),
    // Until the end, `exit` only reserves space, and its time means nothing.
    endedAt: (observed.exit && timeOf(files.exit)) ?? Date.now(),
  };
}

function oomOf(exit: Exit | null, before: number | null): Oom {
  if (exit?.signal !== 'SIGKILL') return 'no';
  const now = readOomKills();
  if (now === null || before === null) return 'unknown';
  return now > before ? 'likely' : 'no';
}

const timeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
