/** The pieces of code in the pages can be parsed, import what exists, and name settings and options that exist. */
import { parseSync } from 'vite';
import { expect, it } from 'vitest';
import { SETTING_NAMES } from '../../src/core/settings/global-settings.ts';
import { type Page, readPages } from './markdown.ts';

const pages = readPages();
const MODULES = [
  'longhaul',
  ...['handler', 'testing', 'web', 'redis', 'worqr', 'blueque', 'qless'].map((name) => `longhaul/${name}`),
];

/** Returns the blocks of a language, each with the line where it begins. */
function blocksOf({ path, text }: Page, languages: string): readonly { place: string; code: string }[] {
  return [...text.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map((found) => ({
    place: `${path}:${text.slice(0, found.index).split('\n').length}`,
    code: found[1] ?? '',
  }));
}

it('TypeScript and JavaScript can be parsed', () => {
  const blocks = pages.flatMap((page) => blocksOf(page, 'ts|js'));
  expect(blocks.length).toBeGreaterThan(20);
  // Several pages show alternatives of one declaration: a block for each statement would not be easier to read.
  const problems = blocks.flatMap(({ place, code }) =>
    parseSync('snippet.ts', code.replaceAll('…', ''), { sourceType: 'module' })
      .errors.filter(({ message }) => !message.includes('already been declared'))
      .map(({ message }) => `${place}: ${message}`),
  );
  expect(problems).toEqual([]);
});

it('imports of the package name its exports', () => {
  const named = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/from '(longhaul(?:\/[\w-]+)?)'/g)].map(([, name = '']) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ name }) => !MODULES.includes(name))).toEqual([]);
});

it('settings of `configure` and of `longhaul config` and `queue` exist', () => {
  const known = new Set<string>([...SETTING_NAMES, 'secrets', 'schedules']);
  const ofCalls = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/\.configure\(\{ (\w+):/g)].map(([, name = '']) => ({ path, name })),
  );
  const ofCommands = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/longhaul (?:config|queue) (?:--?\w+ |[\w-]+ )+([a-z]\w+)=/g)].map(([, name = '']) => ({
      path,
      name,
    })),
  );
  expect(ofCalls.length + ofCommands.length).toBeGreaterThan(10);
  expect([...ofCalls, ...ofCommands].filter(({ name }) => !known.has(name))).toEqual([]);
});

it('JSON of pages that is complete can be parsed', () => {
  const blocks = pages.flatMap((page) => blocksOf(page, 'json')).filter(({ code }) => !code.includes('…'));
  expect(blocks.length).toBeGreaterThan(5);
  const isJson = (code: string): boolean => {
    try {
      JSON.parse(code);
      return true;
    } catch {
      return false;
    }
  };
  expect(blocks.filter(({ code }) => !isJson(code))).toEqual([]);
});
