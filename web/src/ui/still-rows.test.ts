import { describe, expect, it } from 'vitest';
import { stillRows } from './still-rows.ts';

const row = (id: string, state = 'waiting') => ({ id, state });
const keyOf = ({ id }: { id: string }): string => id;

describe('rows under the pointer', () => {
  it('keep their places and say what is new of them', () => {
    const held = [row('b'), row('a')];
    const fresh = [row('d'), row('c'), row('a', 'done')];
    expect(stillRows(fresh, held, keyOf)).toEqual({ rows: [row('b'), row('a', 'done')], waiting: 2 });
  });

  it('are the fresh ones when the pointer is elsewhere', () => {
    const fresh = [row('c')];
    expect(stillRows(fresh, null, keyOf)).toEqual({ rows: fresh, waiting: 0 });
  });
});
