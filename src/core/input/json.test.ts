import { expect, test } from 'vitest';
import { MAX_JSON_BYTES, toJsonText } from './json.ts';

test('Plain values become their JSON text, and undefined becomes null.', () => {
  expect(toJsonText('data', { a: [1, 'x', null, true], left: undefined })).toBe('{"a":[1,"x",null,true]}');
  expect(toJsonText('data', undefined)).toBe('null');
  expect(toJsonText('result', new Date(0), { dates: 'text' })).toBe('"1970-01-01T00:00:00.000Z"');
});

test.each([
  [{ a: { b: Number.NaN } }, 'a.b: NaN is not a JSON number'],
  [{ list: [1, 10n] }, 'list[1]: a bigint is not JSON'],
  [{ f: () => 1 }, 'f: a function is not JSON'],
  [[undefined], '[0]: a undefined is not JSON'],
  [{ when: [new Date(0)] }, 'when[0]: a Date becomes a text in JSON; give its toISOString() or getTime()'],
  [{ when: new Map() }, 'when: a Map would lose its kind in JSON; give a plain object'],
])('A value that JSON cannot represent is rejected with its path: %o', (value, problem) => {
  expect(() => toJsonText('data', value)).toThrow(problem);
});

test('A value that contains itself is rejected.', () => {
  const round: { self?: unknown } = {};
  round.self = round;
  expect(() => toJsonText('data', round)).toThrow('contains itself');
});

test('More than 256 KB is rejected with a hint at attachments; exactly 256 KB is accepted.', () => {
  expect(toJsonText('data', 'x'.repeat(MAX_JSON_BYTES - 2))).toHaveLength(MAX_JSON_BYTES);
  expect(() => toJsonText('data', 'x'.repeat(MAX_JSON_BYTES))).toThrow('attachment');
  expect(() => toJsonText('data', 'ü'.repeat(MAX_JSON_BYTES / 2))).toThrow('attachment');
});
