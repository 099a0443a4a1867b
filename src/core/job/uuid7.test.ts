import { expect, test } from 'vitest';
import { END_DIGITS, MAX_COUNT, uuid7, uuidEnd, uuidTime } from './uuid7.ts';

const end = (digit: string) => uuidEnd(digit.repeat(END_DIGITS));

test('An id is a UUID of version 7 and variant 10, whatever the count and the random digits.', () => {
  for (const count of [0, 0x5a, MAX_COUNT])
    for (const digit of '0123456789abcdef')
      expect(uuid7(uuidTime(1_700_000_000_000), count, end(digit))).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
});

test('A later id sorts after an earlier id.', () => {
  expect(uuid7(uuidTime(1_000), MAX_COUNT, end('f')) < uuid7(uuidTime(1_001), 0, end('0'))).toBe(true);
});

test('Of one millisecond, an id with a higher count sorts after one with a lower count.', () => {
  for (const count of [0, 0xf, 0xff, MAX_COUNT - 1])
    expect(uuid7(uuidTime(1_000), count, end('f')) < uuid7(uuidTime(1_000), count + 1, end('0'))).toBe(true);
});

test('Every random digit changes the id.', () => {
  const digits = '0'.repeat(END_DIGITS);
  const plain = uuidEnd(digits);
  for (let index = 0; index < END_DIGITS; index++)
    expect(uuidEnd(`${digits.slice(0, index)}1${digits.slice(index + 1)}`)).not.toBe(plain);
});
