import { describe, expect, it } from 'vitest';
import { layoutOf } from './graph-layout.ts';

const edge = (parent: string, child: string) => ({ parent, child });

describe('the drawing of a dependency graph', () => {
  it('has each job right of all that it waits for, however long the way', () => {
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('c', 'd')];
    const { spots, columns, rows } = layoutOf(['d', 'c', 'b', 'a'], edges);
    expect(['a', 'b', 'c', 'd'].map((id) => spots.get(id)?.column)).toEqual([0, 1, 2, 3]);
    expect({ columns, rows }).toEqual({ columns: 4, rows: 1 });
  });

  it('has jobs of one column in rows of their own, near what they wait for', () => {
    const edges = [edge('a', 'x'), edge('b', 'y'), edge('c', 'z')];
    const { spots, rows } = layoutOf(['a', 'b', 'c', 'z', 'y', 'x'], edges);
    expect(['x', 'y', 'z'].map((id) => spots.get(id)?.row)).toEqual([0, 1, 2]);
    expect(rows).toBe(3);
  });

  it('ends even for a circle, and is one spot for a job alone', () => {
    expect(layoutOf(['a', 'b'], [edge('a', 'b'), edge('b', 'a')]).spots.size).toBe(2);
    expect(layoutOf(['a'], [])).toMatchObject({ columns: 1, rows: 1 });
  });
});
