import { describe, expect, it } from 'vitest';
import { MOST_PHASES, type Phase, phaseIn, withWords } from './phase.ts';

describe('the phase that words tell of', () => {
  it.each([
    ['pass 1: scene 9 of 25', 'pass 1'],
    ['encoding 12 %', 'encoding'],
    ['uploading', 'uploading'],
    ['12 of 25', null],
    ['', null],
    [': nothing before it', null],
  ])('%o is in %o', (words, name) => {
    expect(phaseIn(words)).toBe(name);
  });

  it('begins when the name changes, comes again when it is named again, and ends nowhere', () => {
    const said = ['get: 1', 'get: 2', '17 %', 'make 3', 'get: 4'];
    const phases = said.reduce<readonly Phase[]>((before, words, at) => withWords(before, words, at), []);
    expect(phases).toEqual([
      { name: 'get', at: 0 },
      { name: 'make', at: 3 },
      { name: 'get', at: 4 },
    ]);
  });

  it('is one of so many, however much is said', () => {
    const words = Array.from({ length: 200 }, (_, number) => `step ${number}: on`);
    const phases = words.reduce<readonly Phase[]>((before, each, at) => withWords(before, each, at), []);
    expect(phases).toHaveLength(MOST_PHASES);
  });
});
