/** Orders processes as a tree: each after its parent, one level deeper. Pure. */
import type { ProcessRow } from '../../../src/wire/processes.ts';

export interface TreeRow {
  readonly process: ProcessRow;
  readonly depth: number;
}

/** A process whose parent is not listed is a root: the script itself, or an orphan. */
export function treeOf(processes: readonly ProcessRow[]): readonly TreeRow[] {
  const known = new Set(processes.map(({ pid }) => pid));
  const ordered = [...processes].sort((a, b) => a.pid - b.pid);
  const below = (pid: number | null, depth: number): TreeRow[] =>
    ordered
      .filter(({ parent }) => (known.has(parent) ? parent : null) === pid)
      .flatMap((process) => [{ process, depth }, ...below(process.pid, depth + 1)]);
  return below(null, 0);
}
