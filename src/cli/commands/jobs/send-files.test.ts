import { expect, it } from 'vitest';
import { barWords } from './send-files.ts';

it('A bar says how much there is, how fast it goes and how long it takes', () => {
  const half = barWords('film.mov', { done: 50 * 1024 ** 2, size: 100 * 1024 ** 2, ms: 5_000 });
  expect(half).toBe(`film.mov ${'█'.repeat(12)}${'░'.repeat(12)} 50 % of 100 MB, 10 MB/s, 5 s left`);
});

it('An empty file is done at once', () => {
  expect(barWords('empty', { done: 0, size: 0, ms: 0 })).toContain('100 % of 0 B');
});
