import { describe, expect, it } from 'vitest';
import { foldsOf, groupsOf, isGroupMarker } from './folds.ts';

const markers = (...pairs: readonly (readonly [number, string])[]) => pairs.map(([line, text]) => ({ line, text }));

describe('groups of a log', () => {
  it('are recognised by their markers', () => {
    expect(['::group::a', '::endgroup::', '--- b', '+++ c', '~~~ d'].every(isGroupMarker)).toBe(true);
    expect([' ::group::a', '---', '----- x', 'a --- b', ''].some(isGroupMarker)).toBe(false);
  });

  it('can be nested, and the last one can be open', () => {
    const found = groupsOf(
      markers([2, '::group::out'], [4, '::group::in'], [6, '::endgroup::'], [9, '::endgroup::'], [12, '::group::open']),
      20,
    );
    expect(found).toEqual([
      { line: 2, title: 'out', end: 9 },
      { line: 4, title: 'in', end: 6 },
      { line: 12, title: 'open', end: 20 },
    ]);
  });

  it('end where the next section starts', () => {
    const found = groupsOf(markers([1, '--- build'], [5, '+++ test']), 8);
    expect(found).toEqual([
      { line: 1, title: 'build', end: 4 },
      { line: 5, title: 'test', end: 8 },
    ]);
  });

  it('become one row when folded, with rows and lines mapped to each other', () => {
    const groups = groupsOf(
      markers([2, '::group::a'], [5, '::endgroup::'], [7, '::group::b'], [9, '::endgroup::']),
      10,
    );
    const folds = foldsOf(groups, new Set([2, 7]), 10);
    expect(folds.rows).toBe(5);
    expect([1, 2, 3, 4, 5].map((row) => folds.lineOf(row))).toEqual([1, 2, 6, 7, 10]);
    expect([1, 2, 4, 6, 7, 10].map((line) => folds.rowOf(line))).toEqual([1, 2, 2, 3, 4, 5]);
  });
});
