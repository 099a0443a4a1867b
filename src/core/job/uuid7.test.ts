import { expect, test } from 'vitest';
import { uuid7, uuidTime } from './uuid7.ts';

test('An id is a UUID of version 7 and variant 10, whatever the random bytes.', () => {
  for (const byte of [0, 0x5a, 0xff]) {
    expect(uuid7(uuidTime(1_700_000_000_000), new Uint8Array(10).fill(byte))).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  }
});

test('A later id sorts after an earlier id.', () => {
  const [low, high] = [new Uint8Array(10), new Uint8Array(10).fill(255)];
  expect(uuid7(uuidTime(1_000), high) < uuid7(uuidTime(1_001), low)).toBe(true);
});

test('Every random byte changes the id.', () => {
  const plain = uuid7(uuidTime(0), new Uint8Array(10));
  for (let index = 0; index < 10; index++) {
    const bytes = new Uint8Array(10);
    bytes[index] = 0x11;
    expect(uuid7(uuidTime(0), bytes)).not.toBe(plain);
  }
});
