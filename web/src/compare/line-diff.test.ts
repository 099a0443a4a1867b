import { describe, expect, it } from 'vitest';
import { diffLines, hunksOf, MOST_LINES } from './line-diff.ts';

const SIGNS = { both: ' ', a: '-', b: '+' };
const shown = (a: string, b: string, sameAs?: (line: string) => string) =>
  diffLines(a.split(' '), b.split(' '), sameAs).map(({ side, text }) => `${SIGNS[side]}${text}`);

describe('the difference of two texts', () => {
  it('keeps what is common and tells the rest by its side', () => {
    expect(shown('a b c d', 'a x c d e')).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(shown('a b', 'a b')).toEqual([' a', ' b']);
    expect(shown('a', 'b')).toEqual(['-a', '+b']);
  });

  it('may leave out of account what always differs', () => {
    expect(shown('took:3 end', 'took:4 end', (line) => line.replace(/\d+/g, '#'))).toEqual([' took:4', ' end']);
  });

  it('is made of as many lines as can be compared', () => {
    const many = Array.from({ length: MOST_LINES + 500 }, (_, number) => `${number}`);
    expect(diffLines(many, many)).toHaveLength(MOST_LINES);
  });

  it('is shown with the lines around it, and says how many are left out', () => {
    const lines = diffLines('1 2 3 4 5 6 7 8 9'.split(' '), '1 2 x 4 5 6 7 8 y'.split(' '));
    expect(hunksOf(lines, 1).map(({ lines: some, skipped }) => [some.length, skipped])).toEqual([
      [4, 3],
      [3, 0],
    ]);
    expect(hunksOf(diffLines(['a'], ['a']), 1)).toEqual([]);
  });
});
