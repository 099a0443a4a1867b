import { describe, expect, it } from 'vitest';
import { checkAttachmentName, checkAttachmentNames } from './attachment-name.ts';

describe('an attachment name', () => {
  it.each([
    '',
    '.',
    '..',
    '../../etc/passwd',
    '..%2f..%2f',
    'a%2Fb',
    'a%5cb',
    '/abs',
    'a/../../b',
    'a/b',
    'a\\b',
    'a\0b',
    'a%00b',
    'a\nb',
    'a\rb',
    'a\x7fb',
    'a\u0085b',
    'a\u2028b',
    'txt.\u202egpj.exe',
    'x'.repeat(300),
    'ü'.repeat(128),
    'CON',
    'con.txt',
    'Lpt1',
    'name.',
    'name ',
    '.tmp-x',
    '.TMPx',
    '\ud800',
    'a\ufffd',
    7,
    null,
    undefined,
    ['a'],
  ])('is refused: %j', (name) => {
    expect(() => checkAttachmentName(name)).toThrow(expect.objectContaining({ code: 'bad-input' }));
  });

  it.each([
    'a',
    'film 1.mov',
    '.hidden',
    'console.log',
    'com10',
    'ü'.repeat(127),
    '100%.txt',
    'a..b',
    '👩‍🚀.png',
    '-rf',
  ])('is accepted: %j', (name) => {
    expect(checkAttachmentName(name)).toBe(name);
  });
});

describe('the attachment names of one job', () => {
  const composed = 'caf\u00e9.txt';
  const decomposed = 'cafe\u0301.txt';

  it('are refused together when two look the same, and both are reported', () => {
    expect(() => checkAttachmentNames([composed, 'b', decomposed])).toThrow(
      expect.objectContaining({
        code: 'bad-input',
        problems: [expect.objectContaining({ path: '[0]' }), expect.objectContaining({ path: '[2]' })],
      }),
    );
    expect(() => checkAttachmentNames(['a', 'a'])).toThrow('look like another');
  });

  it('report every problem at once', () => {
    const attempt = () => checkAttachmentNames(['', 'good', '..', 'a/b']);
    expect(attempt).toThrow(expect.objectContaining({ problems: [{}, {}, {}].map(() => expect.anything()) }));
  });

  it('are returned unchanged when they are valid', () => {
    expect(checkAttachmentNames([decomposed, 'b'])).toEqual([decomposed, 'b']);
  });
});
