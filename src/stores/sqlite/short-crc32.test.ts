import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { shortCrc32 } from './short-crc32.ts';

test('The sum of a text of any short length is that of Node.', () => {
  const text = JSON.stringify({ n: 1, to: 'someone@example.org', subject: 'Your report is ready', a: '~\u007f\u0000' });
  for (let length = 0; length <= text.length; length++) {
    const part = text.slice(0, length);
    expect(shortCrc32(part)).toBe(crc32(part) | 0);
  }
});

test('Texts with other characters than ASCII, and long ones, are left to Node.', () => {
  for (const text of ['é', 'abcé', 'abc\u{1f600}', 'abcdefg\u0080', '\ud800', 'x'.repeat(161)])
    expect(shortCrc32(text)).toBeNull();
});
