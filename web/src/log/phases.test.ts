import { describe, expect, it } from 'vitest';
import type { Mark } from './folds.ts';
import { phasesOf } from './phases.ts';

const mark = (line: number, text: string, at: number | null = line * 1_000): Mark => ({ line, text, at });
const words = (marks: readonly Mark[], more: Partial<Parameters<typeof phasesOf>[0]> = {}) =>
  phasesOf({ marks, spoken: [], since: 500, until: 90_000, isRunning: true, ...more }).map(
    ({ name, from, to, line, isGoingOn }) =>
      `${name} ${from / 1_000}-${to / 1_000}${line === null ? '' : ` L${line}`}${isGoingOn ? ' …' : ''}`,
  );

describe('the phases of an attempt', () => {
  it('are the outermost groups of its log, each from its time to its end', () => {
    const marks = [
      mark(1, '::group::Install'),
      mark(2, '::group::within it'),
      mark(5, '::endgroup::'),
      mark(9, '::endgroup::'),
      mark(20, '::group::Build'),
    ];
    expect(words(marks)).toEqual(['Install 1-9 L1', 'Build 20-90 L20 …']);
    expect(words(marks, { isRunning: false })).toEqual(['Install 1-9 L1', 'Build 20-90 L20']);
  });

  it('are sections, each to the next one', () => {
    expect(words([mark(1, '--- fetch'), mark(4, '+++ make'), mark(6, '~~~ clean')])).toEqual([
      'fetch 1-4 L1',
      'make 4-6 L4',
      'clean 6-90 L6 …',
    ]);
  });

  it('go by the begin and the end of the attempt where the time of a line is not known', () => {
    const marks = [mark(1, '--- a'), mark(4, '--- b', null)];
    expect(words(marks)).toEqual(['a 1-1 L1', 'b 1-90 L4 …']);
    expect(words(marks, { isRunning: false })).toEqual(['a 1-90 L1', 'b 90-90 L4']);
    expect(words([mark(1, '--- a', null)])).toEqual(['a 0.5-90 L1 …']);
  });

  it('are what its words told where its log has not two groups', () => {
    const spoken = [
      { name: 'pass 1', at: 1_000 },
      { name: 'pass 2', at: 60_000 },
    ];
    expect(words([], { spoken })).toEqual(['pass 1 1-60', 'pass 2 60-90 …']);
    expect(words([mark(1, '--- a')], { spoken })).toEqual(['pass 1 1-60', 'pass 2 60-90 …']);
    expect(words([mark(1, '--- a'), mark(2, '--- b')], { spoken })).toEqual(['a 1-2 L1', 'b 2-90 L2 …']);
  });
});
