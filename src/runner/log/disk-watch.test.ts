import { tmpdir } from 'node:os';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type DiskObserver, DiskWatch } from './disk-watch.ts';

const GB = 1024 ** 3;

function aDisk() {
  const disk = { free: 100 * GB, checks: 0 };
  const seen: string[] = [];
  const attempt: DiskObserver = {
    folder: tmpdir(),
    watchedAt: Date.now(),
    diskIsFull: (since, now) => void seen.push(`full ${since}-${now}`),
    diskHasRoom: (now) => void seen.push(`room ${now}`),
  };
  const freeIn = (): number => {
    disk.checks += 1;
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

it('notifies each attempt of a full disk, with the last time it had room, and when it has room again', () => {
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

it('checks more often the fuller the disk is, and not at all once it is stopped', () => {
  const { disk, watch } = aDisk();
  const checksIn = (ms: number): number => {
    const before = disk.checks;
    vi.advanceTimersByTime(ms);
    return disk.checks - before;
  };
  watch.start();
  expect(checksIn(10_000)).toBe(10);
  disk.free = GB;
  checksIn(1_000);
  expect(checksIn(10_000)).toBe(18);
  disk.free = 10;
  checksIn(1_000);
  expect(checksIn(10_000)).toBe(200);
  watch.stop();
  expect(checksIn(10_000)).toBe(0);
});

it('checks the disk of an attempt that ends before the next check', () => {
  const { disk, seen, attempt, watch } = aDisk();
  disk.free = 0;
  watch.check(attempt);
  expect(seen).toEqual(['full 10000-10000']);
});
