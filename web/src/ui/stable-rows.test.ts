import { describe, expect, it } from 'vitest';
import { stableRows } from './stable-rows.ts';

const row = (id: string, state = 'waiting') => ({ id, state });
const keyOf = ({ id }: { id: string }): string => id;

describe('rows under the pointer', () => {
  it('keep their order and show new data', () => {
    const held = [row('b'), row('a')];
    const fresh = [row('d'), row('c'), row('a', 'done')];
    expect(stableRows(fresh, held, keyOf)).toEqual({ rows: [row('b'), row('a', 'done')], waiting: 2 });
  });

  it('are the latest rows while the pointer is elsewhere', () => {
    const fresh = [row('c')];
    expect(stableRows(fresh, null, keyOf)).toEqual({ rows: fresh, waiting: 0 });
  });
});
