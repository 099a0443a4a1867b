import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterCarriageReturn, PLAIN, readLine } from './ansi.ts';

const texts = (line: string): string =>
  readLine(line)
    .pieces.map(({ text }) => text)
    .join('');

describe('a line of a log', () => {
  it('has its colours: sixteen, 256 and true', () => {
    const { pieces, after } = readLine('a\u001b[31mb\u001b[1;38;5;208mc\u001b[48;2;1;2;3md\u001b[0me');
    expect(pieces).toEqual([
      { text: 'a', style: PLAIN },
      { text: 'b', style: { ...PLAIN, foreground: 1 } },
      { text: 'c', style: { ...PLAIN, foreground: '#ff8700', isBold: true } },
      { text: 'd', style: { ...PLAIN, foreground: '#ff8700', isBold: true, background: '#010203' } },
      { text: 'e', style: PLAIN },
    ]);
    expect(after).toEqual(PLAIN);
  });

  it('continues the style of the previous line', () => {
    const { after } = readLine('\u001b[92mgreen');
    expect(readLine('still', after).pieces).toEqual([{ text: 'still', style: { ...PLAIN, foreground: 10 } }]);
  });

  it.each([
    ['a link', '\u001b]8;;javascript:alert(1)\u0007x\u001b]8;;\u0007', 'x'],
    ['a title', '\u001b]0;title\u0007x', 'x'],
    ['a clear screen and a question', '\u001b[2J\u001b[6nx', 'x'],
    ['a link that never ends', 'x\u001b]8;;http://a', 'x'],
    ['a lone escape at the end', 'x\u001b', 'x'],
    ['control characters', 'a\u0000\u0007\u009bb', 'ab'],
    ['markup', '<img src=x onerror=alert(1)>', '<img src=x onerror=alert(1)>'],
  ])('is shown as text: %s', (_what, line, shown) => {
    expect(texts(line)).toBe(shown);
  });

  it('is parsed in one pass, however many colours it has', () => {
    const line = '\u001b[31m.'.repeat(200_000);
    const before = performance.now();
    expect(readLine(line).pieces.length).toBeLessThanOrEqual(2_000);
    // A pass for each colour would take minutes; one pass can take seconds on a busy machine.
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  it('shows no escape sequence and loses no plain text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (line) => {
        expect(texts(line)).not.toMatch(/[\u001b\u0000-\u0008]/);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what a log has
        if (!/[\u0000-\u001f\u007f-\u009f]/.test(line)) expect(texts(line)).toBe(line);
      }),
    );
  });

  it('shows the text after the last carriage return', () => {
    expect(afterCarriageReturn('10 %\r20 %\r30 %')).toBe('30 %');
    expect(afterCarriageReturn('whole\r')).toBe('whole');
    expect(afterCarriageReturn('plain')).toBe('plain');
  });
});
