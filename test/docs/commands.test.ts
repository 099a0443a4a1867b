/** The commands in the documentation exist and have valid options, parsed as the command line does. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Args } from '../../src/cli/table/args.ts';
import type { CommandSpec } from '../../src/cli/table/command-spec.ts';
import { findCommand } from '../../src/cli/table/command-table.ts';

const folder = join(import.meta.dirname, '../../docs');
const pages = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'cli.md');

/** The commands in code blocks, up to a comment, a pipe or the next command. */
function commandsOf(page: string): readonly string[] {
  const text = readFileSync(join(folder, page), 'utf8').replaceAll(/\\\n\s*/g, ' ');
  const lines = [...text.matchAll(/^(?: {4}|\$ )?(longhaul [a-z].*)$/gm)].map(([, line = '']) => line);
  return lines.map((line) => line.replace(/(?: +#| *[|;]| &&| 2?>).*$/, ''));
}

/** Splits a line into words; a quoted string is one word. */
const wordsOf = (line: string): readonly string[] =>
  [...line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word.replaceAll(/['"]/g, ''));

const read = (spec: CommandSpec, words: readonly string[]): Args => new Args(spec, words);

function problemOf(line: string): string | null {
  const [, name = '', ...words] = wordsOf(line);
  const spec = findCommand(name);
  if (spec === undefined) return `${line}: unknown command ${name}`;
  try {
    read(spec, words);
    return null;
  } catch (error) {
    return `${line}: ${(error as Error).message}`;
  }
}

it.each(pages)('docs/%s', (page) => {
  expect(
    commandsOf(page)
      .map(problemOf)
      .filter((problem) => problem !== null),
  ).toEqual([]);
});

it('finds the commands of docs/multiple-nodes.md', () => {
  expect(commandsOf('multiple-nodes.md')).toEqual([
    'longhaul serve --home /var/lib/longhaul --store redis://redis.example:6379 --listen 10.0.0.11',
    'longhaul nodes drain render-1 --wait',
    'longhaul nodes resume render-1',
  ]);
});
