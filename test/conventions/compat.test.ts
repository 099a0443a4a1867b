/** Doors are thin: names and shapes are translated there, and every rule stays in the core. */
import { expect, it } from 'vitest';
import { readSources } from './source-tree.ts';

const SHARE = 0.2;

it('The doors are less than a fifth of the source.', () => {
  const sources = readSources();
  const linesOf = (files: readonly { readonly text: string }[]): number =>
    files.reduce((sum, { text }) => sum + text.split('\n').length, 0);
  const doors = linesOf(sources.filter(({ path }) => path.startsWith('compat/')));
  expect(doors).toBeGreaterThan(0);
  expect(doors / linesOf(sources)).toBeLessThan(SHARE);
});
