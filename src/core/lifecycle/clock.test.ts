import { describe, expect, test } from 'vitest';
import { CLAMP_MS, GAP_MS, LOCKED_GAP_MS, NEVER_SEEN, NO_GAP, readClock } from './clock.ts';

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

describe('A wait for the lock of the store', () => {
  const lockedFor = (ms: number) => ({ from: 100_100, to: 100_100 + ms });

  test('is a gap when it was long and no call was served.', () => {
    const locked = lockedFor(LOCKED_GAP_MS + 1);
    const after = readClock(at(100_000), 101_000, locked);
    expect(after.gap).toEqual(locked);
    expect(readClock(after.memory, 101_010, locked).gap).toEqual(locked);
  });

  test('is no gap when it was short.', () => {
    expect(readClock(at(100_000), 101_000, lockedFor(LOCKED_GAP_MS)).gap).toEqual(NO_GAP);
  });

  test('is no gap when other calls were served.', () => {
    expect(readClock(at(100_101), 101_000, lockedFor(LOCKED_GAP_MS + 1)).gap).toEqual(NO_GAP);
  });

  test('is no gap when it lies in the future, because the clock went back.', () => {
    expect(readClock(at(100_000), 100_500, lockedFor(LOCKED_GAP_MS + 1)).gap).toEqual(NO_GAP);
  });
});
