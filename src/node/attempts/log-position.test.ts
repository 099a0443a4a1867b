import { expect, it } from 'vitest';
import { formatLogPosition, isStillThere, parseLogPosition, timeAt, unfinishedCharacter } from './log-position.ts';

it('formats a position as an offset, with the generation of a truncated log', () => {
  for (const text of ['0', '1234', '7.2'])
    expect(formatLogPosition(parseLogPosition(text) ?? { offset: -1, generation: 0 })).toBe(text);
  for (const text of ['', '-1', '1.', '.1', '1.2.3', 'x', '1e3', '9'.repeat(16)])
    expect(parseLogPosition(text)).toBeNull();
});

it('keeps what was read until the log is truncated before it', () => {
  const cut = { size: 500, generation: 2, head: 100 };
  expect(isStillThere({ offset: 400, generation: 2 }, cut)).toBe(true);
  expect(isStillThere({ offset: 100, generation: 1 }, cut)).toBe(true);
  expect(isStillThere({ offset: 101, generation: 1 }, cut)).toBe(false);
  expect(isStillThere({ offset: 50, generation: 3 }, cut)).toBe(false);
});

it('dates a byte by the time the log was first longer', () => {
  const entries = [
    { offset: 10, line: 1, at: 1_000 },
    { offset: 20, line: 2, at: 2_000 },
  ];
  const index = { generation: 0, head: 0, dropped: 0, entries, gaps: [] };
  expect([0, 9, 10, 19, 20].map((offset) => timeAt(index, offset))).toEqual([1_000, 1_000, 2_000, 2_000, null]);
});

it.each<[text: string, bytes: readonly number[], unfinished: number]>([
  ['nothing', [], 0],
  ['letters', [0x61, 0x62], 0],
  ['a whole é', [0xc3, 0xa9], 0],
  ['half of an é', [0x61, 0xc3], 1],
  ['two thirds of a €', [0x61, 0xe2, 0x82], 2],
  ['three quarters of a rocket', [0xf0, 0x9f, 0x9a], 3],
  ['a whole rocket', [0xf0, 0x9f, 0x9a, 0x80], 0],
  ['bytes that begin nothing', [0xff, 0xfe], 0],
  ['bytes that only go on', [0x80, 0x80, 0x80, 0x80], 0],
  ['an overlong beginning', [0xc0], 0],
])('finds the incomplete character at the end of %s', (_text, bytes, unfinished) => {
  expect(unfinishedCharacter(Uint8Array.from(bytes))).toBe(unfinished);
});
