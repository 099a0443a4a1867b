/** Links between pages lead to files and headings that exist, named files exist, and lines are short. */
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { anchorsOf, type Page, readPages, root } from './markdown.ts';

const pages = readPages();
const byPath = new Map(pages.map((page) => [page.path, page]));
const MAX_LENGTH = 120;
/** Written by a tool, with the facts of a machine in each row. */
const isGenerated = (path: string): boolean => path === 'test/test-report.md';

/** Returns what is wrong with the links of a page. */
function brokenLinks(page: Page): readonly string[] {
  const prose = page.lines.filter(({ isCode }) => !isCode).map(({ text }) => text.replaceAll(/`[^`]*`/g, ''));
  const targets = [...prose.join('\n').matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)].map(
    ([, link, image]) => link ?? image ?? '',
  );
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target));
}

function leadsSomewhere(page: Page, target: string): boolean {
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? page.path : normalize(join(dirname(page.path), file)).replace(/\/$/, '');
  if (!existsSync(join(root, path))) return false;
  const other = byPath.get(path);
  return anchor === undefined || (other !== undefined && anchorsOf(other).has(anchor));
}

/** Returns the files that a page names in code, such as `test/node/serve.test.ts`, and that do not exist. */
function missingFiles({ text }: Page): readonly string[] {
  const named = [...text.matchAll(/`((?:test|src|scripts|deploy|examples|bench)\/[\w./-]+\.\w+)`/g)];
  const exists = (path: string): boolean => existsSync(join(root, path)) || existsSync(join(root, 'web', path));
  return named.map(([, path = '']) => path).filter((path) => !exists(path));
}

/** Lines of tables, code and links alone cannot be broken. */
const isTooLong = ({ text, isCode }: Page['lines'][number]): boolean =>
  text.length > MAX_LENGTH && !isCode && !text.startsWith('|') && text.trim().includes(' ');

it.each(pages.map((page) => [page.path, page] as const))('%s: its links lead somewhere', (_path, page) => {
  expect(brokenLinks(page)).toEqual([]);
  if (page.path.startsWith('docs/decisions/')) return;
  expect(missingFiles(page)).toEqual([]);
});

it('prose has lines of at most 120 characters', () => {
  const found = pages
    .filter(({ path }) => !isGenerated(path))
    .flatMap(({ path, lines }) => lines.filter(isTooLong).map(({ number }) => `${path}:${number}`));
  expect(found).toEqual([]);
});

it('the README has at most 150 lines, and the changelog at most 60', () => {
  const linesOf = (path: string) => (byPath.get(path)?.text.trimEnd().split('\n') ?? []).length;
  expect(linesOf('README.md')).toBeLessThanOrEqual(150);
  expect(linesOf('CHANGELOG.md')).toBeLessThanOrEqual(60);
});

it('the index names every page of docs/', () => {
  const index = byPath.get('docs/README.md')?.text ?? '';
  const others = pages.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
  expect(others.filter((path) => path !== 'docs/README.md' && !index.includes(`(${path.slice(5)})`))).toEqual([]);
});

it('finds a link to nowhere, a missing anchor and a missing file', () => {
  const aPage = (text: string): Page => ({
    path: 'docs/trial.md',
    text,
    lines: text.split('\n').map((line, index) => ({ number: index + 1, text: line, isCode: false })),
  });
  expect(brokenLinks(aPage('[a](nowhere.md) [b](cli.md#nothing) [c](cli.md#commands) [d](../README.md)'))).toEqual([
    'nowhere.md',
    'cli.md#nothing',
  ]);
  expect(missingFiles(aPage('`test/none.test.ts` `test/docs/links.test.ts`'))).toEqual(['test/none.test.ts']);
});
