/** docs/errors.md names exactly the codes that the source has. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/core/errors.ts';
import { REFUSAL_CODES } from '../../src/core/refusal.ts';

const [thrown = '', returned = ''] = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').split(
  '## Returned',
);
const codesIn = (page: string) => [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);

test('Every error code is explained, and no other.', () => {
  expect(codesIn(thrown)).toEqual([...ERROR_CODES]);
});

test('Every refusal code is explained, and no other.', () => {
  expect(codesIn(returned)).toEqual([...REFUSAL_CODES]);
});
