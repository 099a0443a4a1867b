/** What connect() makes of addresses and options. */
import { expect, test } from 'vitest';
import { connect } from '../../src/library/index.ts';

test.each([
  ['ftp://host', 'none of: a folder'],
  ['sqlite:', 'names no folder'],
])('An address that means no store is refused: %s', async (address, words) => {
  await expect(connect(address)).rejects.toMatchObject({ code: 'bad-input', message: expect.stringContaining(words) });
});

test('An unknown option is refused with a guess at what was meant.', async () => {
  await expect(connect('memory:', { namspace: 'x' } as never)).rejects.toThrow('did you mean namespace?');
});

test('A Redis that is not there is said to be away, and the address is named.', async () => {
  await expect(connect('redis://127.0.0.1:1')).rejects.toMatchObject({
    code: 'store-unavailable',
    message: expect.stringContaining('127.0.0.1:1'),
  });
});
