/** The order of processes as a tree. */
import { expect, it } from 'vitest';
import { treeOf } from './process-tree.ts';

const aProcess = (pid: number, parent: number) => ({
  pid,
  parent,
  state: 'S',
  command: '',
  cpuSeconds: 0,
  rssBytes: 0,
});
const shown = (rows: readonly (readonly [number, number])[]) =>
  treeOf(rows.map(([pid, parent]) => aProcess(pid, parent))).map(({ process, depth }) => [process.pid, depth]);

it('places each process below its parent, and orphans at the root', () => {
  const rows = [
    [30, 20],
    [20, 10],
    [10, 2],
    [25, 10],
    [40, 1],
  ] as const;
  expect(shown(rows)).toEqual([
    [10, 0],
    [20, 1],
    [30, 2],
    [25, 1],
    [40, 0],
  ]);
});

it('is empty without processes', () => {
  expect(shown([])).toEqual([]);
});
