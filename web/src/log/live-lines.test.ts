import { describe, expect, it } from 'vitest';
import { LiveLines, type LogLine } from './live-lines.ts';

const line = (number: number, text: string, offset = 0): LogLine => ({ line: number, text, offset, at: 1_000 });
const texts = (live: LiveLines): string[] =>
  Array.from({ length: live.total - live.first + 1 }, (_, step) => live.at(live.first + step)?.text ?? '?');

describe('a log that grows', () => {
  it('joins lines that arrive in pieces', () => {
    const live = new LiveLines();
    for (const piece of ['on', 'e\ntw', 'o', '\n', '\nfour']) live.append(piece);
    expect(texts(live)).toEqual(['one', 'two', '', 'four']);
    expect(live.total).toBe(4);
  });

  it('reads the last fetched line again, whether it was complete or not', () => {
    for (const [again, shown] of [
      ['last\nnext\n', ['first', 'last', 'next']],
      ['last, and more\n', ['first', 'last, and more']],
      ['last', ['first', 'last']],
    ] as const) {
      const live = new LiveLines();
      expect(live.startWith([line(7, 'first', 40), line(8, 'last', 46)])).toBe(46);
      live.append(again);
      expect(texts(live)).toEqual(shown);
      expect(live.at(8)?.at).toBe(1_000);
    }
  });

  it('keeps only the last state of a progress bar that redraws itself', () => {
    const live = new LiveLines();
    for (let step = 0; step <= 100_000; step += 1) live.append(`\r${step} of 100000`);
    live.append('\r\nafter\n');
    expect(live.at(1)?.text.length).toBeLessThan(40);
    expect(texts(live).map((text) => text.trim())).toEqual(['100000 of 100000', 'after']);
  });

  it('bounds lines and characters per line, and counts dropped characters', () => {
    const live = new LiveLines();
    for (let step = 0; step < 100; step += 1) live.append('x'.repeat(1_000));
    expect(live.at(1)?.text.length).toBe(20_000);
    expect(live.at(1)?.dropped).toBe(80_000);
    live.append(`\n${'y\n'.repeat(50_000)}`);
    expect(live.total).toBe(50_001);
    expect(live.total - live.first).toBeLessThan(8_000);
    expect(live.at(live.total)?.line).toBe(live.total);
  });
});
