/** `longhaul help`: made from the table alone. */
import { didYouMean } from '../../../core/input/did-you-mean.ts';
import { print } from '../../output/screen.ts';
import type { Call } from '../../table/call.ts';
import { usageLines } from '../../table/call.ts';
import { UsageError } from '../../table/command.ts';
import type { CommandSpec, OptionSpec } from '../../table/command-spec.ts';
import { COMMANDS, findCommand } from '../../table/command-table.ts';

export async function help(call: Call): Promise<number> {
  const [name, ...more] = call.positionals;
  if (more.length > 0) throw call.wrong('too many words');
  print(name === undefined ? helpOfAll() : helpOf(commandNamed(name)));
  return 0;
}

export function commandNamed(name: string): CommandSpec {
  const command = findCommand(name);
  if (command !== undefined) return command;
  const near = didYouMean(
    name,
    COMMANDS.map((each) => each.name),
  );
  throw new UsageError(`there is no command ${name}${near || '; longhaul help lists them'}`);
}

export function helpOfAll(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length));
  return [
    'longhaul COMMAND [OPTION]…',
    '',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'longhaul COMMAND --help shows its options and examples.',
    'LONGHAUL_HOME names the home folder, ./longhaul by default; LONGHAUL_STORE another store; LONGHAUL_TOKEN is for http.',
    'Exit codes: 0 done, 1 refused, 2 bad usage or settings; run exits with the status of its command.',
  ].join('\n');
}

export function helpOf(spec: CommandSpec): string {
  const options = Object.entries(spec.options).map(
    ([name, option]) => [optionWords(name, option), option.about] as const,
  );
  const width = Math.max(0, ...options.map(([words]) => words.length));
  return [
    ...usageLines(spec),
    '',
    `${spec.summary.charAt(0).toUpperCase()}${spec.summary.slice(1)}.`,
    ...(spec.about === undefined ? [] : ['', spec.about]),
    ...(options.length === 0 ? [] : ['', 'Options:']),
    ...options.map(([words, about]) => `  ${words.padEnd(width)}  ${about}`),
    '',
    'Examples:',
    ...spec.examples.flatMap(({ line, says }) => [`  ${line}`, `      ${says}`]),
  ].join('\n');
}

export function optionWords(name: string, { short, type, value = 'TEXT' }: OptionSpec): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${type === 'flag' ? '' : ` ${value}`}`;
}
