import { expect, it } from 'vitest';
import { readMsgpack } from './read-msgpack.ts';

const bytes = (hex: string): Uint8Array => Buffer.from(hex.replaceAll(' ', ''), 'hex');

it.each([
  ['05', 5],
  ['ff', -1],
  ['c0', null],
  ['c3', true],
  ['cc c8', 200],
  ['cd 01 00', 256],
  ['ce 65 53 f1 00', 1_700_000_000],
  ['d1 ff 00', -256],
  ['cb 3f f8 00 00 00 00 00 00', 1.5],
  ['a3 70 75 74', 'put'],
  ['d9 02 c3 a9', 'é'],
  ['92 01 a1 71', [1, 'q']],
  ['82 a1 71 a4 77 6f 72 6b a1 6e 90', { q: 'work', n: [] }],
  ['dc 00 01 de 00 01 a1 61 02', [{ a: 2 }]],
])('decodes %s', (hex, value) => {
  expect(readMsgpack(bytes(hex))).toEqual(value);
});

it.each(['', '92 01', 'a3 70', 'ce 65', '01 02', 'd4 01 02', 'dd ff ff ff ff 01', 'c1'])(
  'returns undefined for the invalid bytes %s',
  (hex) => {
    expect(readMsgpack(bytes(hex))).toBeUndefined();
  },
);
