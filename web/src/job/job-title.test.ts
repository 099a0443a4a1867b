import { expect, it } from 'vitest';
import { shortId, titleOf } from './job-title.ts';

const id = '0198c3a2-1111-7abc-8def-0123456789ab';

it.each([
  ['its name', { name: 'harbour', data: { a: 1 } }, 'harbour'],
  ['the text that is its data', { name: null, data: ' a\n b ' }, 'a b'],
  [
    'the first values of its data',
    { name: null, data: { film: 'x.mov', n: 3, deep: {}, is4k: true } },
    'film: x.mov, n: 3, is4k: true',
  ],
  ['the parameters of RQ without their names', { name: null, data: { param1: 'a.csv', param2: '7' } }, 'a.csv, 7'],
  ['its short id without data', { name: null, data: null }, '0198c3a2…89ab'],
  [
    'its short id if the data says nothing',
    { name: null, data: { deep: { a: 1 }, none: null, empty: '' } },
    '0198c3a2…89ab',
  ],
])('a job is titled by %s', (_what, job, title) => {
  expect(titleOf({ ...job, id })).toBe(title);
});

it('keeps a title short, and its characters whole', () => {
  expect(titleOf({ name: null, data: '😀'.repeat(500), id })).toBe(`${'😀'.repeat(39)}…`);
});

it('keeps an id that is short already', () => {
  expect(shortId('film-8')).toBe('film-8');
});
