import { describe, expect, it } from 'vitest';
import type { GroupMarker } from './folds.ts';
import { phasesOf } from './phases.ts';

const marker = (line: number, text: string, at: number | null = line * 1_000): GroupMarker => ({ line, text, at });
const described = (markers: readonly GroupMarker[], more: Partial<Parameters<typeof phasesOf>[0]> = {}) =>
  phasesOf({ markers, reported: [], since: 500, until: 90_000, isRunning: true, ...more }).map(
    ({ name, from, to, line, isActive }) =>
      `${name} ${from / 1_000}-${to / 1_000}${line === null ? '' : ` L${line}`}${isActive ? ' …' : ''}`,
  );

describe('the phases of an attempt', () => {
  it('are the outermost groups of its log', () => {
    const markers = [
      marker(1, '::group::Install'),
      marker(2, '::group::within it'),
      marker(5, '::endgroup::'),
      marker(9, '::endgroup::'),
      marker(20, '::group::Build'),
    ];
    expect(described(markers)).toEqual(['Install 1-9 L1', 'Build 20-90 L20 …']);
    expect(described(markers, { isRunning: false })).toEqual(['Install 1-9 L1', 'Build 20-90 L20']);
  });

  it('are sections that end at the next one', () => {
    expect(described([marker(1, '--- fetch'), marker(4, '+++ make'), marker(6, '~~~ clean')])).toEqual([
      'fetch 1-4 L1',
      'make 4-6 L4',
      'clean 6-90 L6 …',
    ]);
  });

  it('use the start and end of the attempt if the time of a line is unknown', () => {
    const markers = [marker(1, '--- a'), marker(4, '--- b', null)];
    expect(described(markers)).toEqual(['a 1-1 L1', 'b 1-90 L4 …']);
    expect(described(markers, { isRunning: false })).toEqual(['a 1-90 L1', 'b 90-90 L4']);
    expect(described([marker(1, '--- a', null)])).toEqual(['a 0.5-90 L1 …']);
  });

  it('are the reported phases if the log has fewer than two groups', () => {
    const reported = [
      { name: 'pass 1', at: 1_000 },
      { name: 'pass 2', at: 60_000 },
    ];
    expect(described([], { reported })).toEqual(['pass 1 1-60', 'pass 2 60-90 …']);
    expect(described([marker(1, '--- a')], { reported })).toEqual(['pass 1 1-60', 'pass 2 60-90 …']);
    expect(described([marker(1, '--- a'), marker(2, '--- b')], { reported })).toEqual(['a 1-2 L1', 'b 2-90 L2 …']);
  });
});
