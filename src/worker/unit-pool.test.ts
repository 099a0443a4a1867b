import { expect, test } from 'vitest';
import { UnitPool } from './unit-pool.ts';

test('What is free is what no running job needs, and it is lent to one claim at a time.', () => {
  const pool = new UnitPool({ gpu: 1, cpu: 4 });
  const [one, other] = [{}, {}];
  let running = ['cpu=1', ''];
  pool.join(one, () => running);
  pool.join(other, () => ['gpu=1,cpu=1']);
  expect(pool.lend(one)).toEqual({ whole: 'cpu=4,gpu=1', free: 'cpu=2' });
  expect(pool.lend(other)).toEqual({ whole: 'cpu=4,gpu=1', free: '' });
  running = [];
  expect(pool.lend(one).free).toBe('cpu=3');
  pool.giveBack(other);
  expect(pool.lend(other).free).toBe('');
  pool.giveBack(one);
  expect(pool.lend(other).free).toBe('cpu=3');
  pool.leave(other);
  expect(pool.lend(one).free).toBe('cpu=4,gpu=1');
});
