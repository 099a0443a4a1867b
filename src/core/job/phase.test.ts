import { describe, expect, it } from 'vitest';
import { MAX_PHASES, type Phase, phaseIn, withPhaseOf } from './phase.ts';

describe('the phase of a status text', () => {
  it.each([
    ['pass 1: scene 9 of 25', 'pass 1'],
    ['encoding 12 %', 'encoding'],
    ['uploading', 'uploading'],
    ['12 of 25', null],
    ['', null],
    [': nothing before it', null],
  ])('%o is in %o', (text, name) => {
    expect(phaseIn(text)).toBe(name);
  });

  it('begins when the name changes, and again when an earlier name returns', () => {
    const texts = ['get: 1', 'get: 2', '17 %', 'make 3', 'get: 4'];
    const phases = texts.reduce<readonly Phase[]>((before, text, at) => withPhaseOf(before, text, at), []);
    expect(phases).toEqual([
      { name: 'get', at: 0 },
      { name: 'make', at: 3 },
      { name: 'get', at: 4 },
    ]);
  });

  it('is not recorded beyond the limit', () => {
    const texts = Array.from({ length: 200 }, (_, number) => `step ${number}: on`);
    const phases = texts.reduce<readonly Phase[]>((before, each, at) => withPhaseOf(before, each, at), []);
    expect(phases).toHaveLength(MAX_PHASES);
  });
});
