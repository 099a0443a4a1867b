/** docs/errors.md lists exactly the codes of the source. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '../../src/core/ports/errors.ts';
import { REFUSAL_CODES } from '../../src/core/ports/refusal.ts';
import { BLOB_REFUSAL_CODES } from '../../src/files/blobs/blob-refusal.ts';
import { PROBLEMS, REQUEST_CODES } from '../../src/wire/problem-details.ts';

const [thrown = '', returned = '', ofAttachments = '', requests = ''] = readFileSync(
  new URL('../../docs/errors.md', import.meta.url),
  'utf8',
).split(/^## (?:Refusals|HTTP errors)/m);
const codesIn = (page: string) => [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);

test('Every error code is documented, and no other.', () => {
  expect(codesIn(thrown)).toEqual([...ERROR_CODES]);
});

test('Every refusal code is documented, and no other.', () => {
  expect(codesIn(returned)).toEqual([...REFUSAL_CODES]);
});

test('Every refusal code of attachments is documented, and no other.', () => {
  expect(codesIn(ofAttachments)).toEqual([...BLOB_REFUSAL_CODES]);
});

test('Every request code is documented with its status, and no other.', () => {
  const rows = [...requests.matchAll(/^\| `([a-z-]+)` \| (\d+) \|/gm)].map(([, code, status]) => [
    code,
    Number(status),
  ]);
  expect(rows).toEqual(REQUEST_CODES.map((code) => [code, PROBLEMS[code][0]]));
});
