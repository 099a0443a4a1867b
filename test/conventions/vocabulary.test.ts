/**
 * Holds the vocabulary of the glossary. Every rule has a ceiling, which is what the code base has of it today: a count that
 * grows fails, and lists each place. Lower a ceiling with every clean-up; the goals are 0, and 10 indefinite pronouns.
 * `LONGHAUL_LIST=1 npx vitest run test/conventions/vocabulary.test.ts` prints every place.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SourceFile } from './source-tree.ts';
import type { Finding, RejectedWord } from './vocabulary-rules.ts';
import { findFileName, findIdentifiers, findWord, INDEFINITE_PRONOUNS, REJECTED_IN_PROSE } from './vocabulary-rules.ts';

const root = join(import.meta.dirname, '..', '..');

/** Paths that begin so are not looked at. */
const EXCEPTIONS: readonly { readonly path: string; readonly reason: string }[] = [
  { path: 'src/compat/', reason: 'a compat layer speaks the words of the system that it stands for' },
  { path: 'src/stores/redis/', reason: 'rewritten by issue "Redis store"' },
];

const PROSE_CEILINGS: Readonly<Record<RejectedWord, number>> = {
  whoever: 166,
  nobody: 262,
  somebody: 174,
  anybody: 31,
  everybody: 24,
  'goes by': 40,
  'gone by': 5,
  'also not': 4,
  'moving house': 7,
  whereabouts: 5,
  stranger: 3,
};
/** The goal is 10. */
const PRONOUN_CEILING = 520;
const IDENTIFIER_CEILING = 511;
const FILE_NAME_CEILING = 22;

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
    .filter((path) => isText(path) && !EXCEPTIONS.some((each) => path.startsWith(each.path)))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
}

/** What was counted, of the ceiling. */
const counts: string[] = [];
afterAll(() => void process.stdout.write(`\nfigures: vocabulary: ${counts.join(', ')}\n`));

/** Fails above the ceiling, with every place. */
function hold(rule: string, found: readonly Finding[], ceiling: number): void {
  const list = found.map(({ path, line, text }) => `  ${path}:${line}: ${text}`).join('\n');
  counts.push(`${rule} ${found.length} of ${ceiling}`);
  if (process.env['LONGHAUL_LIST'] !== undefined) process.stdout.write(`${list}\n`);
  expect(found.length, `${rule}: ${found.length} places, at most ${ceiling} are allowed\n${list}`).toBeLessThanOrEqual(
    ceiling,
  );
}

const isCode = ({ path }: SourceFile): boolean => path.startsWith('src/') || path.startsWith('web/');
const isTypeScript = ({ path }: SourceFile): boolean => /\.tsx?$/.test(path);

describe('the vocabulary', () => {
  it.each(REJECTED_IN_PROSE)('has no more of "%s" than before', (word) => {
    hold(
      word,
      files.flatMap((file) => findWord(file, word)),
      PROSE_CEILINGS[word],
    );
  });

  it('has no more indefinite pronouns in src and web than before', () => {
    const found = files.filter(isCode).flatMap((file) => INDEFINITE_PRONOUNS.flatMap((word) => findWord(file, word)));
    hold('indefinite pronouns in src and web', found, PRONOUN_CEILING);
  });

  it('has no more rejected identifiers than before', () => {
    hold('identifiers', files.filter(isTypeScript).flatMap(findIdentifiers), IDENTIFIER_CEILING);
  });

  it('has no more rejected names of files than before', () => {
    hold('names of files', files.flatMap(findFileName), FILE_NAME_CEILING);
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
