import { expect, test } from 'vitest';
import { MAX_COUNT } from '../../core/job/uuid7.ts';
import { idSource } from './id-source.ts';

const take = (next: () => string, count: number) => Array.from({ length: count }, next);

test('Ids of one millisecond ascend, over several draws of random bytes.', () => {
  const ids = take(
    idSource(() => 1_000),
    1_000,
  );
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
});

test('More ids than counts within a millisecond are all different.', () => {
  const ids = take(
    idSource(() => 1_000),
    3 * MAX_COUNT,
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('Two sources make different ids at the same time.', () => {
  const ids = [
    ...take(
      idSource(() => 1_000),
      500,
    ),
    ...take(
      idSource(() => 1_000),
      500,
    ),
  ];
  expect(new Set(ids).size).toBe(ids.length);
});
