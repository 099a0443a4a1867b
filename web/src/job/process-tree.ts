/** Processes in the order of a tree: each after its parent, one step further in. Pure. */
import type { ProcessRow } from '../../../src/wire/processes.ts';

export interface TreeRow {
  readonly process: ProcessRow;
  readonly depth: number;
}

/** One whose parent is not among them stands at the root: the script itself, and what went its own way. */
export function treeOf(processes: readonly ProcessRow[]): readonly TreeRow[] {
  const known = new Set(processes.map(({ pid }) => pid));
  const ordered = [...processes].sort((a, b) => a.pid - b.pid);
  const below = (pid: number | null, depth: number): TreeRow[] =>
    ordered
      .filter(({ parent }) => (known.has(parent) ? parent : null) === pid)
      .flatMap((process) => [{ process, depth }, ...below(process.pid, depth + 1)]);
  return below(null, 0);
}
