/**
 * The parsed arguments of one command line. An argument that the command table does not know is refused here, with the
 * nearest known name. No code of a command runs before its arguments are valid.
 */
import { parseArgs } from 'node:util';
import { didYouMean } from '../../core/input/did-you-mean.ts';
import { UsageError } from './command.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

type Value = string | true | string[];

export class Args {
  readonly spec: CommandSpec;
  /** The arguments as the user typed them. */
  readonly argv: readonly string[];
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, Value>;

  constructor(spec: CommandSpec, argv: readonly string[]) {
    this.spec = spec;
    this.argv = argv;
    const { positionals, values } =
      spec.parsesOwnArgs === true ? { positionals: [], values: new Map<string, Value>() } : parse(spec, argv);
    this.positionals = positionals;
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#get(name);
    return typeof value === 'string' ? value : undefined;
  }

  flag(name: string): boolean {
    return this.#get(name) === true;
  }

  list(name: string): readonly string[] {
    const value = this.#get(name);
    return Array.isArray(value) ? value : [];
  }

  /** Returns an integer within the bounds, or undefined if the option is not given. */
  number(name: string, [min, max]: readonly [number, number]): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
    throw new UsageError(`--${name} must be an integer from ${min} to ${max}, not ${text}`);
  }

  /** Returns the only positional argument; throws if there is none or more than one. */
  only(placeholder: string): string {
    const [first, ...more] = this.positionals;
    if (first === undefined || more.length > 0)
      throw this.usageError(first === undefined ? `${placeholder} is missing` : 'too many arguments');
    return first;
  }

  usageError(problem: string): UsageError {
    return new UsageError(`${problem}\n${usageLines(this.spec).join('\n')}`);
  }

  #get(name: string): Value | undefined {
    if (this.spec.options[name] === undefined)
      throw new Error(`the command table has no option ${name} for ${this.spec.name}`);
    return this.#values.get(name);
  }
}

export function usageLines({ name, usage }: CommandSpec): string[] {
  return usage.map(
    (line, index) => `${index === 0 ? 'usage:' : '      '} longhaul ${name}${line === '' ? '' : ` ${line}`}`,
  );
}

type OptionToken = { name: string; rawName: string; value: string | undefined; inlineValue: boolean | undefined };

function parse(spec: CommandSpec, argv: readonly string[]) {
  const { tokens } = parseArgs({ args: [...argv], options: parserOptions(spec), strict: false, tokens: true });
  const values = new Map<string, Value>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') addOption(spec, values, token);
  }
  return { positionals, values };
}

function parserOptions({ options }: CommandSpec) {
  return Object.fromEntries(
    Object.entries(options).map(([name, { type, short }]) => {
      const parsed = { type: type === 'flag' ? ('boolean' as const) : ('string' as const), multiple: type === 'list' };
      return [name, short === undefined ? parsed : { ...parsed, short }];
    }),
  );
}

function addOption(spec: CommandSpec, values: Map<string, Value>, { name, rawName, value }: OptionToken): void {
  const option = spec.options[name];
  if (option === undefined) throw unknownOption(spec, rawName);
  if (option.type === 'flag') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    values.set(name, true);
    return;
  }
  const text = optionText(option, rawName, value);
  const before = values.get(name);
  if (option.type === 'list') values.set(name, Array.isArray(before) ? [...before, text] : [text]);
  else values.set(name, text);
}

function optionText({ value: placeholder = 'TEXT' }: OptionSpec, rawName: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${rawName} needs a value: ${rawName} ${placeholder}`);
  return value;
}

function unknownOption(spec: CommandSpec, rawName: string): UsageError {
  const known = Object.keys(spec.options).map((name) => `--${name}`);
  const near = didYouMean(rawName, known);
  const hint = near === '' ? `; see longhaul ${spec.name} --help` : near;
  return new UsageError(`longhaul ${spec.name} has no option ${rawName}${hint}`);
}
