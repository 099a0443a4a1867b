/** `longhaul help`: help texts generated from the command table. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { print } from '../../output/screen.ts';
import type { Args } from '../../table/args.ts';
import { usageLines } from '../../table/args.ts';
import { UsageError } from '../../table/command.ts';
import type { CommandSpec, OptionSpec } from '../../table/command-spec.ts';
import { COMMANDS, findCommand } from '../../table/command-table.ts';

export async function help(args: Args): Promise<number> {
  const [name, ...more] = args.positionals;
  if (more.length > 0) throw args.usageError('too many arguments');
  print(name === undefined ? overviewHelp() : commandHelp(requireCommand(name)));
  return 0;
}

export function requireCommand(name: string): CommandSpec {
  const command = findCommand(name);
  if (command !== undefined) return command;
  const near = didYouMean(
    name,
    COMMANDS.map((each) => each.name),
  );
  throw new UsageError(`unknown command: ${name}${near || '; longhaul help lists the commands'}`);
}

export function overviewHelp(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    'usage: longhaul COMMAND [OPTION]…',
    '',
    'Commands:',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Environment:',
    '  LONGHAUL_HOME   data directory (default: ./longhaul)',
    '  LONGHAUL_STORE  store or node to use instead of the data directory',
    '  LONGHAUL_TOKEN  token for http:// and https:// addresses',
    '',
    'ID is the id of a job, or a beginning of it of at least four characters that no other job has.',
    'Exit codes: 0 success, 1 refused, 2 bad usage or settings; run exits with the status of its command.',
    'Run longhaul COMMAND --help for the options and examples of a command.',
  ].join('\n');
}

export function commandHelp(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, option]) => [optionSyntax(name, option), option.description] as const,
  );
  const width = Math.max(0, ...options.map(([syntax]) => syntax.length));
  return [
    ...usageLines(spec),
    '',
    `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`,
    ...(spec.description === undefined ? [] : ['', spec.description]),
    ...(options.length === 0 ? [] : ['', 'Options:']),
    ...options.map(([syntax, description]) => `  ${syntax.padEnd(width)}  ${description}`),
    '',
    'Examples:',
    ...spec.examples.flatMap(({ line, description }) => [`  ${line}`, `      ${description}`]),
  ].join('\n');
}

export function optionSyntax(name: string, { short, type, value = 'TEXT' }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${type === 'flag' ? '' : ` ${value}`}`;
}
