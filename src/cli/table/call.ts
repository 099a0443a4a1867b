/**
 * One call of a command: its words, read by its entry in the table. A word that the table does not know is refused
 * here, with the nearest that it does know; nothing of a command runs before its words are right.
 */
import { parseArgs } from 'node:util';
import { didYouMean } from '../../core/input/did-you-mean.ts';
import { UsageError } from './command.ts';
import type { CommandSpec, OptionSpec } from './command-spec.ts';

type Value = string | true | string[];

export class Call {
  readonly spec: CommandSpec;
  /** As they were given. */
  readonly words: readonly string[];
  readonly positionals: readonly string[];
  readonly #values: ReadonlyMap<string, Value>;

  constructor(spec: CommandSpec, words: readonly string[]) {
    this.spec = spec;
    this.words = words;
    const { positionals, values } =
      spec.readsWords === true ? { positionals: [], values: new Map<string, Value>() } : readWords(spec, words);
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

  /** A whole number within bounds, or nothing. */
  number(name: string, [min, max]: readonly [number, number]): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const number = Number(text);
    if (text.trim() !== '' && Number.isInteger(number) && number >= min && number <= max) return number;
    throw new UsageError(`--${name} must be a whole number from ${min} to ${max}, not ${text}`);
  }

  /** The one positional that there must be. */
  only(what: string): string {
    const [first, ...more] = this.positionals;
    if (first === undefined || more.length > 0)
      throw this.wrong(first === undefined ? `${what} is missing` : 'too many words');
    return first;
  }

  wrong(problem: string): UsageError {
    return new UsageError(`${problem}\n${usageLines(this.spec).join('\n')}`);
  }

  #get(name: string): Value | undefined {
    if (this.spec.options[name] === undefined) throw new Error(`the table has no option ${name} of ${this.spec.name}`);
    return this.#values.get(name);
  }
}

export function usageLines({ name, usage }: CommandSpec): string[] {
  return usage.map(
    (line, place) => `${place === 0 ? 'usage:' : '      '} longhaul ${name}${line === '' ? '' : ` ${line}`}`,
  );
}

type OptionToken = { name: string; rawName: string; value: string | undefined; inlineValue: boolean | undefined };

function readWords(spec: CommandSpec, words: readonly string[]) {
  const { tokens } = parseArgs({ args: [...words], options: parserOptions(spec), strict: false, tokens: true });
  const values = new Map<string, Value>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value);
    if (token.kind === 'option') take(spec, values, token);
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

function take(spec: CommandSpec, values: Map<string, Value>, { name, rawName, value }: OptionToken): void {
  const option = spec.options[name];
  if (option === undefined) throw unknownOption(spec, rawName);
  if (option.type === 'flag') {
    if (value !== undefined) throw new UsageError(`${rawName} takes no value`);
    values.set(name, true);
    return;
  }
  const text = givenText(option, rawName, value);
  const before = values.get(name);
  if (option.type === 'list') values.set(name, Array.isArray(before) ? [...before, text] : [text]);
  else values.set(name, text);
}

function givenText({ value: placeholder = 'TEXT' }: OptionSpec, rawName: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`${rawName} needs a value: ${rawName} ${placeholder}`);
  return value;
}

function unknownOption(spec: CommandSpec, rawName: string): UsageError {
  const known = Object.keys(spec.options).map((name) => `--${name}`);
  const near = didYouMean(rawName, known);
  const more = near === '' ? `; longhaul ${spec.name} --help lists what there is` : near;
  return new UsageError(`longhaul ${spec.name} has no option ${rawName}${more}`);
}
