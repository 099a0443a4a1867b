/** The images of the documentation exist, are small, and are all used. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const MAX_BYTES = 100 * 1024;
const documents = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((path) =>
  path.endsWith('.md'),
);
const used = documents.flatMap((path) =>
  [...readFileSync(join(root, path), 'utf8').matchAll(/(?:docs\/)?images\/([\w-]+\.png)/g)].map(
    ([, name]) => name ?? '',
  ),
);
const existing = readdirSync(join(root, 'docs/images'));

it('all exist and are all used', () => {
  expect([...new Set(used)].sort()).toEqual(existing.sort());
});

it.each(existing)('%s is a small PNG', (name) => {
  const bytes = readFileSync(join(root, 'docs/images', name));
  expect(bytes.toString('latin1', 1, 4)).toBe('PNG');
  expect(bytes.length).toBeLessThan(MAX_BYTES);
});
