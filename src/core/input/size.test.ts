import { expect, test } from 'vitest';
import { parseSize } from './size.ts';

test.each([
  ['512 KB', 524_288],
  ['2GB', 2_147_483_648],
  ['1.5mb', 1_572_864],
  ['7b', 7],
  [1_000, 1_000],
])('%s is %d bytes', (value, bytes) => expect(parseSize(value)).toBe(bytes));

test.each(['', '12', 'GB', '-1KB', -1, Number.NaN, null, '5 pounds'])('%s is not a size', (value) =>
  expect(parseSize(value)).toBeNull(),
);
