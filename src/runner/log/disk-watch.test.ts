import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { DiskWatch, type OnDisk } from './disk-watch.ts';

const GB = 1024 ** 3;

function aDisk() {
  const disk = { free: 100 * GB, looks: 0 };
  const seen: string[] = [];
  const attempt: OnDisk = {
    folder: tmpdir(),
    watchedAt: Date.now(),
    diskIsFull: (since, now) => void seen.push(`full ${since}-${now}`),
    diskHasRoom: (now) => void seen.push(`room ${now}`),
  };
  const freeIn = (): number => {
    disk.looks += 1;
    return disk.free;
  };
  return {
    disk,
    seen,
    attempt,
    watch: new DiskWatch({ attempts: () => [attempt], onTrouble: (what) => seen.push(what), freeIn }),
  };
}

beforeEach(() => void vi.useFakeTimers({ now: 10_000 }));
afterEach(() => void vi.useRealTimers());

it('tells each attempt of a full disk since when it had no room for certain, and when it has room again', () => {
  const { disk, seen, watch } = aDisk();
  watch.start();
  disk.free = 60 * 1024;
  vi.advanceTimersByTime(1_000);
  vi.advanceTimersByTime(50);
  disk.free = 100 * GB;
  vi.advanceTimersByTime(50);
  watch.stop();
  expect(seen).toEqual(['room 10000', 'full 10000-11000', 'full 10000-11050', 'room 11100']);
});

it('looks more often the fuller the disk is, and not at all once it is stopped', () => {
  const { disk, watch } = aDisk();
  const looksIn = (ms: number): number => {
    const before = disk.looks;
    vi.advanceTimersByTime(ms);
    return disk.looks - before;
  };
  watch.start();
  expect(looksIn(10_000)).toBe(10);
  disk.free = GB;
  looksIn(1_000);
  expect(looksIn(10_000)).toBe(18);
  disk.free = 10;
  looksIn(1_000);
  expect(looksIn(10_000)).toBe(200);
  watch.stop();
  expect(looksIn(10_000)).toBe(0);
});

it('looks at the disk of an attempt that ends before the next look', () => {
  const { disk, seen, attempt, watch } = aDisk();
  disk.free = 0;
  watch.lookAt(attempt);
  expect(seen).toEqual(['full 10000-10000']);
});
