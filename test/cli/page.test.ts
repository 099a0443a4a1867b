/** The command table is consistent, and docs/cli.md is generated from it. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandHelp, overviewHelp } from '../../src/cli/commands/shell/help.ts';
import { Args } from '../../src/cli/table/args.ts';
import { COMMANDS, findCommand } from '../../src/cli/table/command-table.ts';
import { cliPage } from './cli-page.ts';

it('docs/cli.md matches the command table', async () => {
  await expect(cliPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../docs/cli.md'));
});

describe.each(COMMANDS.map((spec) => [spec.name, spec] as const))('longhaul %s', (name, spec) => {
  it('has an example that uses it, and shows it in its help', () => {
    expect(spec.examples.length).toBeGreaterThan(0);
    for (const { line } of spec.examples) {
      expect(line).toContain(`longhaul ${name}`);
      expect(commandHelp(spec)).toContain(line);
    }
    expect(overviewHelp()).toContain(spec.summary);
  });

  it('has distinct short options, and a description of each option', () => {
    const shorts = Object.values(spec.options).flatMap(({ short }) => (short === undefined ? [] : [short]));
    expect(new Set(shorts).size).toBe(shorts.length);
    for (const { description, short } of Object.values(spec.options)) {
      expect(description).not.toBe('');
      expect(short ?? 'x').toMatch(/^[a-gi-z]$/);
    }
  });

  it('can be loaded', async () => {
    expect(await spec.load()).toBeTypeOf('function');
  });
});

describe('the arguments of a command', () => {
  const parse = (...argv: string[]) => {
    const spec = findCommand('ls');
    if (spec === undefined) throw new Error('the command table has no ls');
    return new Args(spec, argv);
  };

  it('are parsed in any order, with or without =', () => {
    const args = parse('--limit=5', 'films', '--json', '-n', '7');
    expect([args.positionals, args.number('limit', [1, 10]), args.flag('json')]).toEqual([['films'], 7, true]);
  });

  it.each([
    [['--json=yes'], 'takes no value'],
    [['--limit'], 'needs a value: --limit N'],
    [['--limt', '4'], 'did you mean --limit?'],
    [['-z'], 'has no option -z'],
  ])('%j are refused: %s', (argv, problem) => {
    expect(() => parse(...argv)).toThrow(problem);
  });
});
