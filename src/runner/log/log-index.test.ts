import { describe, expect, it } from 'vitest';
import { addEntry, EMPTY_INDEX, entryBefore, formatLogIndex, MAX_ENTRIES, parseLogIndex } from './log-index.ts';

const anEntry = (offset: number) => ({ offset, line: offset / 10, at: 1_000 + offset });

describe('the index of a log', () => {
  it('round-trips through its file format', () => {
    const gaps = [{ from: 5, to: 9, offset: 15 }];
    const index = { generation: 2, head: 50, dropped: 900, entries: [anEntry(10), anEntry(20)], gaps };
    expect(parseLogIndex(formatLogIndex(index))).toEqual(index);
    expect(formatLogIndex({ ...EMPTY_INDEX, entries: [anEntry(10)] })).toBe('10 1 1010\n');
    expect(parseLogIndex('')).toEqual(EMPTY_INDEX);
  });

  it('uses the last line of a gap that has grown', () => {
    expect(parseLogIndex('gap 5 9 15\n10 1 1010\ngap 5 30 15\n')).toEqual({
      ...EMPTY_INDEX,
      entries: [anEntry(10)],
      gaps: [{ from: 5, to: 30, offset: 15 }],
    });
  });

  it('ignores a last line that a crash cut short', () => {
    expect(parseLogIndex('10 1 1010\n20 2').entries).toEqual([anEntry(10)]);
  });

  it('finds the last entry before a position', () => {
    const index = { ...EMPTY_INDEX, entries: [anEntry(10), anEntry(20), anEntry(30)] };
    expect(entryBefore(index, ({ offset }) => offset <= 25)).toEqual(anEntry(20));
    expect(entryBefore(index, ({ offset }) => offset <= 5)).toEqual({ offset: 0, line: 1, at: 0 });
  });

  it('stays small: when full, it drops every second entry and keeps the first', () => {
    let index = EMPTY_INDEX;
    let thinned = 0;
    for (let count = 1; count <= 3 * MAX_ENTRIES; count += 1) {
      const added = addEntry(index, anEntry(count * 10));
      index = added.index;
      if (added.isThinned) thinned += 1;
    }
    expect(thinned).toBe(4);
    expect(index.entries.length).toBeLessThanOrEqual(MAX_ENTRIES);
    expect(index.entries[0]).toEqual(anEntry(10));
    expect(index.entries.at(-1)).toEqual(anEntry(30 * MAX_ENTRIES));
  });
});
