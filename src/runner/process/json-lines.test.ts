import { expect, it } from 'vitest';
import { createLineReader, toLine } from './json-lines.ts';

it('messages arrive complete, however the bytes are split', () => {
  const messages = [{ a: 'ä\n' }, { b: [1, 2] }, 'c'];
  const bytes = Buffer.from(messages.map(toLine).join(''));
  for (let size = 1; size <= bytes.length; size += 1) {
    const received: unknown[] = [];
    const take = createLineReader((message) => received.push(message));
    for (let at = 0; at < bytes.length; at += size) take(bytes.subarray(at, at + size));
    expect(received).toEqual(messages);
  }
});
