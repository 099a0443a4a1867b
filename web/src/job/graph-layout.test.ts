import { describe, expect, it } from 'vitest';
import { layoutOf } from './graph-layout.ts';

const edge = (parent: string, child: string) => ({ parent, child });

describe('the drawing of a dependency graph', () => {
  it('places each job right of all its parents, at any depth', () => {
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('a', 'c'), edge('c', 'd')];
    const { positions, columns, rows } = layoutOf(['d', 'c', 'b', 'a'], edges);
    expect(['a', 'b', 'c', 'd'].map((id) => positions.get(id)?.column)).toEqual([0, 1, 2, 3]);
    expect({ columns, rows }).toEqual({ columns: 4, rows: 1 });
  });

  it('places the jobs of a column in separate rows, near their parents', () => {
    const edges = [edge('a', 'x'), edge('b', 'y'), edge('c', 'z')];
    const { positions, rows } = layoutOf(['a', 'b', 'c', 'z', 'y', 'x'], edges);
    expect(['x', 'y', 'z'].map((id) => positions.get(id)?.row)).toEqual([0, 1, 2]);
    expect(rows).toBe(3);
  });

  it('ends even for a cycle, and places a single job', () => {
    expect(layoutOf(['a', 'b'], [edge('a', 'b'), edge('b', 'a')]).positions.size).toBe(2);
    expect(layoutOf(['a'], [])).toMatchObject({ columns: 1, rows: 1 });
  });
});
