import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overwritten, PLAIN, readLine } from './sgr.ts';

const texts = (line: string): string =>
  readLine(line)
    .pieces.map(({ text }) => text)
    .join('');

describe('a line of a log', () => {
  it('has its colours: sixteen, 256 and true', () => {
    const { pieces, after } = readLine('a\u001b[31mb\u001b[1;38;5;208mc\u001b[48;2;1;2;3md\u001b[0me');
    expect(pieces).toEqual([
      { text: 'a', look: PLAIN },
      { text: 'b', look: { ...PLAIN, ink: 1 } },
      { text: 'c', look: { ...PLAIN, ink: '#ff8700', isBold: true } },
      { text: 'd', look: { ...PLAIN, ink: '#ff8700', isBold: true, ground: '#010203' } },
      { text: 'e', look: PLAIN },
    ]);
    expect(after).toEqual(PLAIN);
  });

  it('goes on in the look that the line above ended with', () => {
    const { after } = readLine('\u001b[92mgreen');
    expect(readLine('still', after).pieces).toEqual([{ text: 'still', look: { ...PLAIN, ink: 10 } }]);
  });

  it.each([
    ['a link', '\u001b]8;;javascript:alert(1)\u0007x\u001b]8;;\u0007', 'x'],
    ['a title', '\u001b]0;title\u0007x', 'x'],
    ['a clear screen and a question', '\u001b[2J\u001b[6nx', 'x'],
    ['a link that never ends', 'x\u001b]8;;http://a', 'x'],
    ['a lone escape at the end', 'x\u001b', 'x'],
    ['control characters', 'a\u0000\u0007\u009bb', 'ab'],
    ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ])('is text whatever is in it: %s', (_what, line, shown) => {
    expect(texts(line)).toBe(shown);
  });

  it('is read in one pass, however many colours it has', () => {
    const line = '\u001b[31m.'.repeat(200_000);
    const before = performance.now();
    expect(readLine(line).pieces.length).toBeLessThanOrEqual(2_000);
    // A pass for each colour would take many minutes; a busy machine may well take seconds for one.
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  it('never shows an escape, and never loses plain text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        expect(texts(line)).not.toMatch(/[\u001b\u0000-\u0008]/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a log has
        if (!/[\u0000-\u001f\u007f-\u009f]/.test(line)) expect(texts(line)).toBe(line);
      }),
    );
  });

  it('shows what was written last where the carriage went back', () => {
    expect(overwritten('10 %\r20 %\r30 %')).toBe('30 %');
    expect(overwritten('whole\r')).toBe('whole');
    expect(overwritten('plain')).toBe('plain');
  });
});
