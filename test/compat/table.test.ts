/** docs/compatibility.md, the tests of the doors and their code tell the same: nothing of an original is forgotten in one of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Client } from '../../src/compat/blueque/index.ts';
import { Listener } from '../../src/compat/blueque/listener.ts';
import { Processor } from '../../src/compat/blueque/processor.ts';
import { Queue } from '../../src/compat/blueque/queue.ts';
import { COMMANDS, Qless } from '../../src/compat/qless/qless.ts';
import { Worqr } from '../../src/compat/worqr/index.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/compatibility.md'), 'utf8');
const [promised = '', operations = ''] = page.split('## Worqr');
const rowsOf = (part: string) =>
  part
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| what ') && !line.startsWith('| promise '))
    .map((line) => line.slice(2, -2).split(' | '))
    .map(([what = '', shown = '']) => ({ what, shown }));
const rows = rowsOf(operations);
const titles = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts') && name !== 'table.test.ts' && !name.startsWith('originals/'))
  .flatMap((name) => [
    ...readFileSync(join(import.meta.dirname, name), 'utf8').matchAll(/\b(?:test|it)\(\s*(['"`])(.*?)\1,/g),
  ])
  .map((found) => found[2] ?? '');
const shownBy = rows.flatMap(({ shown }) => [...shown.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? ''));

test('Every row names a test that exists, or says why it differs.', () => {
  expect(rows.length).toBeGreaterThan(30);
  const bare = rows.filter(({ shown }) => !shown.startsWith('differs: ') && !shown.includes('`'));
  expect(bare).toEqual([]);
  expect(shownBy.filter((start) => !titles.some((title) => title.startsWith(start)))).toEqual([]);
});

test('Every promise of the four names a file and a test in it, or says why it differs.', () => {
  const promises = rowsOf(promised);
  expect(promises.length).toBeGreaterThan(30);
  const wrong = promises.filter(({ shown }) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(shown) ?? [];
    const path = join(import.meta.dirname, '../..', file);
    return !shown.startsWith('differs: ') && (file === '' || !readFileSync(path, 'utf8').includes(title));
  });
  expect(wrong).toEqual([]);
});

test('Every test of a door stands in the table.', () => {
  expect(titles.length).toBeGreaterThan(30);
  expect(titles.filter((title) => !shownBy.some((start) => title.startsWith(start)))).toEqual([]);
});

test('Every method of a door stands in the table.', () => {
  const own = new Set(['constructor', 'longhaul', 'made', 'close', 'call', 'subscribe']);
  const methods = [Worqr, Client, Queue, Listener, Processor, Qless].flatMap((each) =>
    Object.getOwnPropertyNames(each.prototype).filter((name) => !own.has(name)),
  );
  expect(methods.length).toBeGreaterThan(30);
  const words = rows.map(({ what }) => what).join(' ');
  expect(methods.filter((name) => !new RegExp(`\\b${name}\\b`, 'i').test(words))).toEqual([]);
  const commands = new Set(words.split(/[ ,]+/));
  expect(Object.keys(COMMANDS).filter((name) => !commands.has(name))).toEqual([]);
});
