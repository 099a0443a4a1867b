import { expect, test } from 'vitest';
import { toJsonFrame } from './frames.ts';
import { createOutputReader, markOf } from './output-marks.ts';

const mark = markOf('0123456789abcdef');

function readIn(bytes: Buffer, step: number): unknown[] {
  const seen: unknown[] = [];
  let output = '';
  const read = createOutputReader(mark, {
    onOutput: (part) => {
      output += Buffer.from(part).toString('latin1');
    },
    onMark: (message) => {
      seen.push(output, message);
      output = '';
    },
  });
  for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
  return [...seen, output];
}

test('Marks separate the output and carry messages, however the bytes are cut.', () => {
  const outputs = ['one\n', '', 'a NUL \0 and \x000123 in it', '\0', 'end'];
  const messages = [{ kind: 'outcome', text: 'x'.repeat(300) }, null, { text: mark.toString('latin1') }, 4];
  const parts = outputs.flatMap((text, place) => [
    Buffer.from(text, 'latin1'),
    ...(place < messages.length ? [toJsonFrame(messages[place], mark)] : []),
  ]);
  const bytes = Buffer.concat(parts);
  const expected = outputs.flatMap((text, place) => (place < messages.length ? [text, messages[place]] : [text]));
  for (const step of [1, 2, 7, 17, 18, 19, 64, bytes.length]) expect(readIn(bytes, step)).toEqual(expected);
});

test('Output that cannot begin a mark is passed on at once.', () => {
  const seen: string[] = [];
  const read = createOutputReader(mark, { onOutput: (bytes) => seen.push(Buffer.from(bytes).toString()), onMark() {} });
  read(Buffer.from('a line\n'));
  read(Buffer.from('more\0'));
  expect(seen).toEqual(['a line\n', 'more']);
});
