import { expect, test } from 'vitest';
import { createOutputReader, markOf } from './output-marks.ts';

const mark = markOf('0123456789abcdef');

function readIn(bytes: Buffer, step: number): string[] {
  const parts = [''];
  const read = createOutputReader(mark, {
    onOutput: (output) => parts.push(`${parts.pop()}${Buffer.from(output).toString('latin1')}`),
    onMark: () => parts.push(''),
  });
  for (let at = 0; at < bytes.length; at += step) read(bytes.subarray(at, at + step));
  return parts;
}

test('Marks separate the output, however its bytes are cut.', () => {
  const outputs = ['one\n', '', 'a NUL \0 and \x000123 in it', '\0', 'end'];
  const bytes = Buffer.concat(outputs.flatMap((text) => [Buffer.from(text, 'latin1'), mark]).slice(0, -1));
  for (const step of [1, 2, 7, 17, 18, 19, bytes.length]) expect(readIn(bytes, step)).toEqual(outputs);
});

test('Output that cannot begin a mark is passed on at once.', () => {
  const seen: string[] = [];
  const read = createOutputReader(mark, { onOutput: (bytes) => seen.push(Buffer.from(bytes).toString()), onMark() {} });
  read(Buffer.from('a line\n'));
  read(Buffer.from('more\0'));
  expect(seen).toEqual(['a line\n', 'more']);
});
