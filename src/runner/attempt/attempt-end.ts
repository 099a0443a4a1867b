/** What is told of an attempt at its end, beyond what was seen of it: from the times of its files and the kernel. */
import { statSync } from 'node:fs';
import { readOomKills } from './accounting.ts';
import type { AttemptEnd, Oom } from './attempt.ts';
import type { AttemptFiles, Exit } from './attempt-files.ts';

export interface Seen extends Pick<AttemptEnd, 'exit' | 'said' | 'usage'> {
  /** How often the kernel had run out of memory at the start; null when nobody looked. */
  readonly oomKills: number | null;
  /** We ended it ourselves. */
  readonly isTerminated: boolean;
}

export function toEnd(files: AttemptFiles, { oomKills, isTerminated, ...seen }: Seen): AttemptEnd {
  return {
    ...seen,
    oom: isTerminated ? 'no' : oomOf(seen.exit, oomKills),
    isOverdue: timeOf(files.overdue) !== null,
    startedAt: timeOf(files.pid) ?? Date.now(),
    // Before its end the file only takes up room.
    endedAt: (seen.exit && timeOf(files.exit)) ?? Date.now(),
  };
}

function oomOf(exit: Exit | null, before: number | null): Oom {
  if (exit?.signal !== 'SIGKILL') return 'no';
  const now = readOomKills();
  if (now === null || before === null) return 'unknown';
  return now > before ? 'likely' : 'no';
}

const timeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null;
