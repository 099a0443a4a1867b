import { expect, test } from 'vitest';
import { CLAMP_MS, GAP_MS, NEVER_SEEN, NO_GAP, readClock } from './clock.ts';

const at = (seenAt: number) => ({ seenAt, gap: NO_GAP });

test('The first reading is accepted and is no gap.', () => {
  expect(readClock(NEVER_SEEN, 1_000_000)).toMatchObject({ now: 1_000_000, gap: NO_GAP, hasSteppedBack: false });
});

test('Time stands still while a small step back is caught up.', () => {
  expect(readClock(at(100_000), 100_000 - CLAMP_MS)).toMatchObject({ now: 100_000, hasSteppedBack: false });
});

test('A large step back is accepted and reported.', () => {
  expect(readClock(at(100_000), 100_000 - CLAMP_MS - 1)).toMatchObject({
    now: 39_999,
    hasSteppedBack: true,
    gap: NO_GAP,
  });
});

test('A silence longer than any poll interval is a gap, and later readings keep it.', () => {
  const after = readClock(at(100_000), 100_001 + GAP_MS);
  expect(after.gap).toEqual({ from: 100_000, to: 100_001 + GAP_MS });
  expect(readClock(after.memory, after.now + 10).gap).toEqual(after.gap);
  expect(readClock(at(100_000), 100_000 + GAP_MS).gap).toEqual(NO_GAP);
});
