/**
 * Enforces the vocabulary of ARCHITECTURE.md: words that are rejected in prose, in identifiers and in file names. A failure
 * lists every place. There are no exceptions: compat layers quote the strings of an original, and these have none of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SourceFile } from './source-tree.ts';
import type { Finding } from './vocabulary-rules.ts';
import { findFileName, findIdentifiers, findWord, INDEFINITE_PRONOUNS, REJECTED_IN_PROSE } from './vocabulary-rules.ts';

const root = join(import.meta.dirname, '..', '..');

/** Indefinite pronouns allowed in src and web. */
const MAX_PRONOUNS = 10;

const files = readTexts();

/** The texts of src, web, docs and the root. */
function readTexts(): readonly SourceFile[] {
  const under = ['src', 'web/src', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  const paths = [...under, 'web/index.html', ...readdirSync(root)].map((path) => path.replaceAll('\\', '/'));
  const isText = (path: string) =>
    path.includes('/') ? /\.(?:tsx?|lua|sql|sh|css|html|mjs|md|json)$/.test(path) : path.endsWith('.md');
  return paths
    .filter(isText)
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** Counts per rule, for the report. */
const counts: string[] = [];
afterAll(() => void process.stdout.write(`\nfigures: vocabulary: ${counts.join(', ')}\n`));

/** Fails when there are more findings than allowed, and lists each. */
function limit(rule: string, found: readonly Finding[], max: number): void {
  counts.push(`${rule} ${found.length}`);
  const list = found.map(({ path, line, text }) => `  ${path}:${line}: ${text}`).join('\n');
  expect(found.length, `${rule}: ${found.length} places, ${max} are allowed\n${list}`).toBeLessThanOrEqual(max);
}

const isCode = ({ path }: SourceFile): boolean => path.startsWith('src/') || path.startsWith('web/');
const isTypeScript = ({ path }: SourceFile): boolean => /\.tsx?$/.test(path);

describe('the vocabulary', () => {
  it.each(REJECTED_IN_PROSE)('has no "%s"', (word) => {
    const found = files.flatMap((file) => findWord(file, word));
    limit(word, found, 0);
  });

  it('has few indefinite pronouns in src and web', () => {
    const found = files.filter(isCode).flatMap((file) => INDEFINITE_PRONOUNS.flatMap((word) => findWord(file, word)));
    limit('indefinite pronouns in src and web', found, MAX_PRONOUNS);
  });

  it('has no rejected identifiers', () => {
    limit('identifiers', files.filter(isTypeScript).flatMap(findIdentifiers), 0);
  });

  it('has no rejected file names', () => {
    limit('file names', files.flatMap(findFileName), 0);
  });
});

describe('the test of the vocabulary', () => {
  const lines = (findings: readonly Finding[]) => findings.map(({ line }) => line);

  it.each([
    ['whoever', '// Whoever asks'],
    ['stranger', 'the strangers'],
    ['goes by', 'it goes by the clock'],
    ['goes by', ' * it goes\n * by the clock'],
    ['also not', '-- is also\n-- not there'],
  ] as const)('finds "%s" in: %s', (word, text) => {
    expect(lines(findWord({ path: 'a.ts', text }, word))).toEqual([1]);
  });

  it.each([
    ['nobody', 'no body of a request'],
    ['stranger', 'an estrangement'],
    ['goes by', 'it goes bypassed'],
  ] as const)('does not find "%s" in: %s', (word, text) => {
    expect(findWord({ path: 'a.ts', text }, word)).toEqual([]);
  });

  it.each(['const leaseKeeper = 1;', 'class A { #lanes = 1 }', 'f({ DOOR_NAME: 1 });', 'type Tally = 1;'])(
    'finds the identifier in: %s',
    (text) => {
      expect(lines(findIdentifiers({ path: 'a.ts', text }))).toEqual([1]);
    },
  );

  it.each(['const plane = 1;', 'const swiftly = 1;', "const a = 'a keeper'; // door", 'const indoor = 1;'])(
    'finds no identifier in: %s',
    (text) => {
      expect(findIdentifiers({ path: 'a.ts', text })).toEqual([]);
    },
  );

  it('finds the names of files and folders', () => {
    expect(findFileName({ path: 'src/node/built-in-lanes.ts' })).toHaveLength(1);
    expect(findFileName({ path: 'docs/doors.md' })).toHaveLength(1);
    expect(findFileName({ path: 'src/core/plane.ts' })).toEqual([]);
  });
});
