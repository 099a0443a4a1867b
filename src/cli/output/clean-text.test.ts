import { describe, expect, it } from 'vitest';
import { createLogCleaner, plainLine } from './clean-text.ts';

const esc = '\u001b';
const bytes = (text: string) => new TextEncoder().encode(text);
const clean = (...pieces: string[]) => {
  const cleaner = createLogCleaner({ keepsColours: true });
  return pieces.map((piece) => cleaner.clean(bytes(piece))).join('');
};

describe('what a log may say to a terminal', () => {
  it.each([
    ['plain text, tabs and carriage returns', 'a\tb\r\nc', 'a\tb\r\nc'],
    ['colours', `${esc}[1;31mred${esc}[0m`, `${esc}[1;31mred${esc}[0m`],
    ['colours of 24 bits', `${esc}[38:2:1:2:3mx`, `${esc}[38:2:1:2:3mx`],
    ['no moving and erasing', `a${esc}[2J${esc}[10;10Hb${esc}[Kc`, 'abc'],
    ['no private modes', `a${esc}[?1049hb${esc}[>4;2mc`, 'abc'],
    ['no titles and no clipboard', `a${esc}]0;title\u0007b${esc}]52;c;aGk=${esc}\\c`, 'abc'],
    ['no device strings', `a${esc}P1;2|secret${esc}\\b`, 'ab'],
    ['no questions that the terminal would answer', `a${esc}[6n${esc}[cb`, 'ab'],
    ['no bells, backspaces and nulls', 'a\u0007\u0008\u0000b', 'ab'],
    ['no controls of eight bits', 'a\u009b31mb', 'a31mb'],
    ['letters of all languages', 'é漢🎬', 'é漢🎬'],
  ])('%s', (_what, said, shown) => {
    expect(clean(said)).toBe(shown);
  });

  it('is the same however the log was cut into pieces', () => {
    const said = `a${esc}[1;31mred${esc}[0m${esc}]52;c;aGk=${esc}\\b${esc}[2Jc漢\n`;
    const whole = bytes(said);
    for (let at = 1; at < whole.length; at++) {
      const cleaner = createLogCleaner({ keepsColours: true });
      const shown = cleaner.clean(whole.subarray(0, at)) + cleaner.clean(whole.subarray(at));
      expect([at, shown]).toEqual([at, `a${esc}[1;31mred${esc}[0mbc漢\n`]);
    }
  });

  it('is the same byte by byte', () => {
    const cleaner = createLogCleaner({ keepsColours: true });
    const said = bytes(`a${esc}[2J${esc}[31mb${esc}]0;t\u0007c`);
    expect([...said].map((byte) => cleaner.clean(Uint8Array.of(byte))).join('')).toBe(`a${esc}[31mbc`);
  });

  it('has no memory for a sequence without an end', () => {
    const cleaner = createLogCleaner({ keepsColours: true });
    for (let piece = 0; piece < 100; piece++)
      expect(cleaner.clean(bytes(piece === 0 ? `${esc}]0;x` : 'x'.repeat(10_000)))).toBe('');
    expect(cleaner.clean(bytes('x\u0007seen'))).toBe('seen');
  });

  it('has no colours where none are wanted', () => {
    expect(createLogCleaner({ keepsColours: false }).clean(bytes(`${esc}[31mred${esc}[0m`))).toBe('red');
  });
});

it('One line is one line, without anything that a terminal obeys', () => {
  expect(plainLine(`two\nlines${esc}[31m red\u0007 \u202eback`)).toBe('two lines red back');
});
