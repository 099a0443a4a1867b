import { expect, it } from 'vitest';
import { progressText } from './migration-progress.ts';

const copied = { step: 'copy', part: 'jobs', rows: 400, of: 1_600 } as const;

it('shows rows, percentage and the remaining time, estimated from the rows of this run', () => {
  const pace = { ms: 3_000, since: 100, hasBar: false };
  expect(progressText(copied, pace)).toBe('copied jobs: 400 of 1600, 25 %, 12 s left');
  const bar = `${'█'.repeat(6)}${'░'.repeat(18)}`;
  expect(progressText(copied, { ...pace, hasBar: true })).toBe(`copied jobs ${bar} 400 of 1600, 25 %, 12 s left`);
});

it('leaves out percentage and remaining time when they are unknown', () => {
  const pace = { ms: 0, since: 0, hasBar: true };
  expect(progressText({ step: 'copy', part: 'records', rows: 7, of: null }, pace)).toBe('copied records: 7');
  expect(progressText({ ...copied, step: 'compare', rows: 0 }, { ...pace, hasBar: false })).toBe(
    'compared jobs: 0 of 1600, 0 %',
  );
  expect(progressText({ ...copied, rows: 1_600 }, { ms: 9, since: 0, hasBar: false })).toBe(
    'copied jobs: 1600 of 1600, 100 %',
  );
  expect(progressText({ step: 'wait', part: 'jobs', rows: 1, of: null }, pace)).toBe('waiting for 1 job to end');
});
