/**
 * The tables of the compat layers, their tests and their code agree: operations.md names each operation of an original
 * with its test, and promises.md each promise of its document.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Client } from '../../src/compat/blueque/index.ts';
import { Listener } from '../../src/compat/blueque/listener.ts';
import { Processor } from '../../src/compat/blueque/processor.ts';
import { Queue } from '../../src/compat/blueque/queue.ts';
import { COMMANDS, Qless } from '../../src/compat/qless/qless.ts';
import { Worqr } from '../../src/compat/worqr/index.ts';

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), 'utf8');
/** The cells of the rows of all tables; a `|` in a cell is written as `\\|`. */
const cellsIn = (text: string): readonly (readonly string[])[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\| (what|promise|system) /.test(line))
    .map((line) => line.slice(2, -2).split(/ (?<!\\)\| /));
const rows = cellsIn(read('operations.md')).map(([what = '', shown = '']) => ({ what, shown }));
const promises = cellsIn(read('promises.md')).map(([what = '', document = '', words = '', shown = '']) => ({
  what,
  document,
  words: words.replaceAll('\\|', '|'),
  shown,
}));
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
  expect(promises.length).toBeGreaterThan(30);
  const wrong = promises.filter(({ shown }) => {
    const [, file = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(shown) ?? [];
    return !shown.startsWith('differs: ') && (file === '' || !read(join('../..', file)).includes(title));
  });
  expect(wrong).toEqual([]);
});

const documents = process.env['SEED_DOCUMENTS'] ?? '';
if (documents === '') process.stderr.write('skipped: promises in their documents: SEED_DOCUMENTS names no directory\n');
test.skipIf(documents === '')('Every promise is in its document, by its words.', () => {
  const texts = new Map(
    readdirSync(documents).map((name) => [
      name.slice(0, 3),
      readFileSync(join(documents, name), 'utf8').replaceAll(/\s+/g, ' '),
    ]),
  );
  const missing = promises.filter(({ document, words }) => document !== '–' && !texts.get(document)?.includes(words));
  expect(missing).toEqual([]);
});

test('Every test of a compat layer is in a table.', () => {
  expect(titles.length).toBeGreaterThan(30);
  expect(titles.filter((title) => !shownBy.some((start) => title.startsWith(start)))).toEqual([]);
});

test('Every method of a compat layer is in a table.', () => {
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
