/** The table of commands holds together, and docs/cli.md says what it says. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { helpOf, helpOfAll } from '../../src/cli/commands/shell/help.ts';
import { Call } from '../../src/cli/table/call.ts';
import { COMMANDS, findCommand } from '../../src/cli/table/command-table.ts';
import { cliPage } from './cli-page.ts';

it('docs/cli.md is made from the table', async () => {
  await expect(cliPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/cli.md'));
});

describe.each(COMMANDS.map((spec) => [spec.name, spec] as const))('longhaul %s', (name, spec) => {
  it('has an example that uses it, and a help that shows it', () => {
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const { line } of spec.examples) {
      expect(line).toContain(`longhaul ${name}`);
      expect(helpOf(spec)).toContain(line);
    }
    expect(helpOfAll()).toContain(spec.summary);
  });

  it('has options that can be told apart, each with a meaning', () => {
    const shorts = Object.values(spec.options).flatMap(({ short }) => (short === undefined ? [] : [short]));
    expect(new Set(shorts).size).toBe(shorts.length);
    for (const { about, short } of Object.values(spec.options)) {
      expect(about).not.toBe('');
      expect(short ?? 'x').toMatch(/^[a-gi-z]$/);
    }
  });

  it('can be loaded', async () => {
    expect(await spec.load()).toBeTypeOf('function');
  });
});

describe('the words of a command', () => {
  const read = (...words: string[]) => {
    const spec = findCommand('ls');
    if (spec === undefined) throw new Error('there is ls');
    return new Call(spec, words);
  };

  it('are read in any order, with = or without', () => {
    const call = read('--limit=5', 'films', '--json', '-n', '7');
    expect([call.positionals, call.number('limit', [1, 10]), call.flag('json')]).toEqual([['films'], 7, true]);
  });

  it.each([
    [['--json=yes'], 'takes no value'],
    [['--limit'], 'needs a value: --limit N'],
    [['--limt', '4'], 'did you mean --limit?'],
    [['-z'], 'has no option -z'],
  ])('%j are refused: %s', (words, problem) => {
    expect(() => read(...words)).toThrow(problem);
  });
});
