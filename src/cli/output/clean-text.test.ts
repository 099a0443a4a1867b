import { describe, expect, it } from 'vitest';
import { createLogCleaner, plainLine } from './clean-text.ts';

const esc = '\u001b';
const bytes = (text: string) => new TextEncoder().encode(text);
const clean = (...chunks: string[]) => {
  const cleaner = createLogCleaner({ keepsColours: true });
  return chunks.map((chunk) => cleaner.clean(bytes(chunk))).join('');
};

describe('the log cleaner', () => {
  it.each([
    ['keeps plain text, tabs and carriage returns', 'a\tb\r\nc', 'a\tb\r\nc'],
    ['keeps colours', `${esc}[1;31mred${esc}[0m`, `${esc}[1;31mred${esc}[0m`],
    ['keeps 24-bit colours', `${esc}[38:2:1:2:3mx`, `${esc}[38:2:1:2:3mx`],
    ['removes cursor moves and erasing', `a${esc}[2J${esc}[10;10Hb${esc}[Kc`, 'abc'],
    ['removes private modes', `a${esc}[?1049hb${esc}[>4;2mc`, 'abc'],
    ['removes titles and clipboard access', `a${esc}]0;title\u0007b${esc}]52;c;aGk=${esc}\\c`, 'abc'],
    ['removes device control strings', `a${esc}P1;2|secret${esc}\\b`, 'ab'],
    ['removes queries that the terminal would answer', `a${esc}[6n${esc}[cb`, 'ab'],
    ['removes bells, backspaces and nulls', 'a\u0007\u0008\u0000b', 'ab'],
    ['removes 8-bit control characters', 'a\u009b31mb', 'a31mb'],
    ['keeps letters of all languages', 'é漢🎬', 'é漢🎬'],
  ])('%s', (_title, input, output) => {
    expect(clean(input)).toBe(output);
  });

  it('returns the same text for every split of the log into two chunks', () => {
    const input = `a${esc}[1;31mred${esc}[0m${esc}]52;c;aGk=${esc}\\b${esc}[2Jc漢\n`;
    const whole = bytes(input);
    for (let at = 1; at < whole.length; at++) {
      const cleaner = createLogCleaner({ keepsColours: true });
      const shown = cleaner.clean(whole.subarray(0, at)) + cleaner.clean(whole.subarray(at));
      expect([at, shown]).toEqual([at, `a${esc}[1;31mred${esc}[0mbc漢\n`]);
    }
  });

  it('returns the same text byte by byte', () => {
    const cleaner = createLogCleaner({ keepsColours: true });
    const input = bytes(`a${esc}[2J${esc}[31mb${esc}]0;t\u0007c`);
    expect([...input].map((byte) => cleaner.clean(Uint8Array.of(byte))).join('')).toBe(`a${esc}[31mbc`);
  });

  it('does not buffer a sequence without an end', () => {
    const cleaner = createLogCleaner({ keepsColours: true });
    for (let chunk = 0; chunk < 100; chunk++)
      expect(cleaner.clean(bytes(chunk === 0 ? `${esc}]0;x` : 'x'.repeat(10_000)))).toBe('');
    expect(cleaner.clean(bytes('x\u0007seen'))).toBe('seen');
  });

  it('removes colours when they are off', () => {
    expect(createLogCleaner({ keepsColours: false }).clean(bytes(`${esc}[31mred${esc}[0m`))).toBe('red');
  });
});

it('plainLine joins lines and removes escape sequences and direction marks', () => {
  expect(plainLine(`two\nlines${esc}[31m red\u0007 \u202eback`)).toBe('two lines red back');
});
