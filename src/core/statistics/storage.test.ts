import { expect, it } from 'vitest';
import { bytesOf } from './storage.ts';

it('counts bytes as an encoder writes them', () => {
  for (const text of ['', 'plain', 'Grüße', '日本語', '😀 and 👩‍🚀', '\ud800', 'a\udc00b', '\ud83d\ud83d\ude00'])
    expect(bytesOf(text)).toBe(new TextEncoder().encode(text).length);
  expect(bytesOf(null)).toBe(0);
});
