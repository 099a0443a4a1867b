import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../core/settings/settings.ts';
import { CapacityPool } from './capacity-pool.ts';

test('Free capacity is what no running job needs, and it is lent to one claim at a time.', () => {
  const pool = new CapacityPool({ gpu: 1, cpu: 4 });
  const running = (...needs: readonly string[]) =>
    needs.map((each) => ({ job: { queue: 'q', policy: { needs: each } } }));
  let ofOne = running('cpu=1', '');
  const [one, other] = [{ running: () => ofOne }, { running: () => running('gpu=1,cpu=1') }];
  for (const worker of [one, other]) pool.join(worker, () => DEFAULT_SETTINGS);
  expect(pool.lend(one)).toEqual({ whole: 'cpu=4,gpu=1', free: 'cpu=2' });
  expect(pool.lend(other)).toEqual({ whole: 'cpu=4,gpu=1', free: '' });
  ofOne = [];
  expect(pool.lend(one).free).toBe('cpu=3');
  pool.giveBack(other);
  expect(pool.lend(other).free).toBe('');
  pool.giveBack(one);
  expect(pool.lend(other).free).toBe('cpu=3');
  pool.leave(other);
  expect(pool.lend(one).free).toBe('cpu=4,gpu=1');
});
