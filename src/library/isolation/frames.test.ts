import { expect, test } from 'vitest';
import { createFrameReader, toFrame, toJsonFrame } from './frames.ts';

test('Messages arrive whole and in order, however their bytes are cut.', () => {
  const messages = [{ a: 1 }, 'x'.repeat(5_000), { at: new Date(5), bytes: Buffer.from('abc') }, null];
  const bytes = Buffer.concat(messages.map((each, place) => (place < 2 ? toJsonFrame(each) : toFrame(each))));
  for (const step of [1, 2, 3, 5, 64, 4_999, bytes.length]) {
    const received: unknown[] = [];
    const read = createFrameReader((message) => received.push(message));
    for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
    expect(received).toEqual(messages);
  }
});
