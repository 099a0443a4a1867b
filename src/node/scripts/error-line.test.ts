import { describe, expect, it } from 'vitest';
import { errorLineOf } from './error-line.ts';

describe('the error line of a log', () => {
  it.each([
    ['the last line with text', ['reading', 'disk is full', '', '  '], 'disk is full'],
    ['a line that names an error rather than the last one', ['Error: row 7', 'cleaning up'], 'Error: row 7'],
    ['the last of several errors', ['error: a', 'error: b', 'bye'], 'error: b'],
    [
      'the error of a stack trace of Node',
      [
        'file:///x.js:1',
        "throw new TypeError('no')",
        '    ^',
        '',
        'TypeError: no',
        '    at x.js:1:7',
        '',
        'Node.js v22',
      ],
      'TypeError: no',
    ],
    [
      'the last line of a traceback of Python',
      ['Traceback (most recent call last):', '  File "a.py", line 1, in <module>', "KeyError: 'x'"],
      "KeyError: 'x'",
    ],
    ['the text without colours', ['\u001b[31mfatal:\u001b[0m no branch'], 'fatal: no branch'],
    ['what a carriage return leaves', ['10 %\r20 %\rcurl: (6) no host\r'], 'curl: (6) no host'],
    ['the output of a step and not its end', ['no disk', 'longhaul: step cut failed: exit status 9'], 'no disk'],
    ['no line of an empty log', ['', ' '], null],
  ])('is %s', (_what, lines, line) => {
    expect(errorLineOf(lines)).toBe(line);
  });

  it('is cut without a split character', () => {
    expect(errorLineOf([`x${'😀'.repeat(1_000)}`])).toMatch(/^x(?:😀)+$/u);
  });
});
