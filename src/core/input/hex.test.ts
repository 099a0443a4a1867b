import { expect, test } from 'vitest';
import { hexByte, hexWord } from './hex.ts';

test('A 32-bit number has eight digits, whatever its value.', () => {
  for (const value of [0, 1, 0xff, 0x100, 0x0a0b0c0d, 0x7fffffff, 0x80000000, 0xdeadbeef, 0xffffffff])
    expect(hexWord(value)).toBe(value.toString(16).padStart(8, '0'));
});

test('A byte has two digits.', () => {
  expect([0, 9, 16, 255, 256].map(hexByte)).toEqual(['00', '09', '10', 'ff', '00']);
});
