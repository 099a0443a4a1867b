import { expect, it } from 'vitest';
import { progressBarText } from './progress.ts';

it('shows size, rate and remaining time beside the progress bar', () => {
  const half = progressBarText('film.mov', { done: 50 * 1024 ** 2, size: 100 * 1024 ** 2, ms: 5_000 });
  expect(half).toBe(`film.mov ${'█'.repeat(12)}${'░'.repeat(12)} 50 % of 100 MB, 10 MB/s, 5 s left`);
});

it('shows an empty file as complete', () => {
  expect(progressBarText('empty', { done: 0, size: 0, ms: 0 })).toContain('100 % of 0 B');
});
