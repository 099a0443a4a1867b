/** The pictures of the documents: each that is named is there and small, and each that is there is named. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const MOST_BYTES = 100 * 1024;
const documents = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
);
const named = documents.flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/(?:docs\/)?images\/([\w-]+\.png)/g)].map(
    ([, name]) => name ?? '',
  ),
);
const there = readdirSync(join(root, 'docs/images'));

it('are all there, and all named', () => {
  expect([...new Set(named)].sort()).toEqual(there.sort());
});

it.each(there)('%s is a small PNG', (name) => {
  const bytes = readFileSync(join(root, 'docs/images', name));
  expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
  expect(bytes.length).toBeLessThan(MOST_BYTES);
});
