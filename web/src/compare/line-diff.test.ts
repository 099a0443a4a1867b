import { describe, expect, it } from 'vitest';
import { diffLines, hunksOf, MAX_LINES } from './line-diff.ts';

const SIGNS = { both: ' ', a: '-', b: '+' };
const shown = (a: string, b: string, sameAs?: (line: string) => string) =>
  diffLines(a.split(' '), b.split(' '), sameAs).map(({ side, text }) => `${SIGNS[side]}${text}`);

describe('the difference of two texts', () => {
  it('keeps common lines and marks the others by side', () => {
    expect(shown('a b c d', 'a x c d e')).toEqual([' a', '-b', '+x', ' c', ' d', '+e']);
    expect(shown('a b', 'a b')).toEqual([' a', ' b']);
    expect(shown('a', 'b')).toEqual(['-a', '+b']);
  });

  it('can ignore parts that always differ', () => {
    expect(shown('took:3 end', 'took:4 end', (line) => line.replace(/\d+/g, '#'))).toEqual([' took:4', ' end']);
  });

  it('compares a bounded number of lines', () => {
    const many = Array.from({ length: MAX_LINES + 500 }, (_, number) => `${number}`);
    expect(diffLines(many, many)).toHaveLength(MAX_LINES);
  });

  it('is shown with context lines and the number of skipped lines', () => {
    const lines = diffLines('1 2 3 4 5 6 7 8 9'.split(' '), '1 2 x 4 5 6 7 8 y'.split(' '));
    expect(hunksOf(lines, 1).map(({ lines: some, skipped }) => [some.length, skipped])).toEqual([
      [4, 3],
      [3, 0],
    ]);
    expect(hunksOf(diffLines(['a'], ['a']), 1)).toEqual([]);
  });
});
