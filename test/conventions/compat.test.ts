/** Compat layers are thin: they translate names and shapes, and every rule is in the core. */
import { expect, it } from 'vitest';
import { readSources } from './source-tree.ts';

const SHARE = 0.2;

it('The compat layers are less than a fifth of the source.', () => {
  const sources = readSources();
  const linesOf = (files: readonly { readonly text: string }[]): number =>
    files.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  const compat = linesOf(sources.filter(({ path }) => path.startsWith('compat/')));
  expect(compat).toBeGreaterThan(0);
  expect(compat / linesOf(sources)).toBeLessThan(SHARE);
});
