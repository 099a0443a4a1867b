/**
 * Reads the arguments of a command as qless does: texts or numbers, JSON as text, options in pairs. Raises its error
 * messages for wrong ones.
 */
import { MAX_DURATION_MS } from '../../core/input/duration.ts';
import { MAX_JSON_BYTES } from '../../core/input/json.ts';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { checkQueueName } from '../../core/settings/settings-input.ts';
import type { Longhaul } from '../../library/longhaul.ts';

/** Whose answers a command gives: those of qless-core, or those of its successor reqless-core. */
export type Dialect = 'qless' | 'reqless';

/** What one `Qless` object remembers between calls. */
export interface Session {
  /** The token of each job that the methods of the first document popped. */
  readonly tokens: Map<string, number>;
  /** Decides when a call also runs maintenance. */
  readonly maintenance: { lastAt: number; completions: number };
  /** The worker that was registered last. */
  lastSeen: { readonly worker: string; readonly queue: string; readonly atMs: number } | null;
  /** Publishes an event that the store does not emit. */
  publish(channel: string, message: string): void;
}

/** One call of a command: the store at the caller's time, and that time. */
export interface Call {
  readonly longhaul: Longhaul;
  /** Milliseconds; a command's own times are seconds. */
  readonly nowMs: number;
  readonly dialect: Dialect;
  readonly session: Session;
  /** The store at another time of the caller. */
  at(ms: number): Store;
}

export type Arguments = readonly unknown[];
export type Command = (call: Call, args: Arguments) => Promise<unknown>;

/** Throws what qless raises. */
export function raise(words: string): never {
  throw new LonghaulError('refused', words);
}

export function wrong(words: string): never {
  throw new LonghaulError('bad-input', words);
}

/** `Put(): Arg "jid" missing`. */
export function textArgument(value: unknown, command: string, name: string): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : wrong(`${command}(): Arg "${name}" missing`);
}

export function numberArgument(value: unknown, command: string, name: string): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  return wrong(`${command}(): Arg "${name}" missing or not a number: ${asText(value)}`);
}

export function wholeArgument(value: unknown, command: string, name: string): number {
  const number = numberArgument(value, command, name);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  return wrong(`${command}(): Arg "${name}" must be a whole number from 0: ${shown(value)}`);
}

/** The time of a call, in seconds. */
export function timeArgument(value: unknown): number {
  const seconds = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0) return seconds;
  return wrong(`Arg "now" missing or not a number: ${asText(value)}`);
}

/** Seconds, as milliseconds. */
export function secondsArgument(value: unknown, command: string, name: string): number {
  const ms = Math.round(numberArgument(value, command, name) * 1_000);
  return Math.abs(ms) <= MAX_DURATION_MS ? ms : wrong(`${command}(): Arg "${name}" is too long: ${shown(value)}`);
}

export function queueArgument(value: unknown, command: string): string {
  return checkQueueName(textArgument(value, command, 'queue'));
}

/** Returns the text itself, because qless keeps data as it is given. Other values are written as JSON. */
export function jsonArgument(value: unknown, command: string, name: string): string {
  const text = jsonText(value) ?? wrong(`${command}(): Arg "${name}" missing or not JSON: ${shown(value)}`);
  if (Buffer.byteLength(text) <= MAX_JSON_BYTES) return text;
  return wrong(`${command}(): Arg "${name}" is more than ${MAX_JSON_BYTES} bytes of JSON`);
}

function jsonText(value: unknown): string | undefined {
  if (typeof value !== 'string') return JSON.stringify(value);
  try {
    JSON.parse(value);
    return value;
  } catch {
    return undefined;
  }
}

export function listArgument(value: unknown, command: string, name: string): readonly string[] {
  const list: unknown = Array.isArray(value) ? value : JSON.parse(jsonArgument(value, command, name));
  // An empty list is an empty table in Lua, which may come as an object.
  if (typeof list === 'object' && list !== null && Object.keys(list).length === 0) return [];
  if (Array.isArray(list) && list.every(isTextOrNumber)) return list.map(String);
  return wrong(`${command}(): Arg "${name}" is not a list of texts: ${shown(value)}`);
}

function isTextOrNumber(value: unknown): value is string | number {
  return typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));
}

/** Options follow in pairs: `priority`, 5, `tags`, '["a"]'. */
export function pairs(rest: Arguments, known: readonly string[], command: string): Readonly<Record<string, unknown>> {
  if (rest.length % 2 === 1) wrong(`${command}(): Odd number of additional args: ${shown(rest)}`);
  const options: Record<string, unknown> = {};
  for (let at = 0; at < rest.length; at += 2) {
    const name = asText(rest[at]);
    if (!known.includes(name)) wrong(`${command}(): Unknown option "${name}", none of ${known.join(', ')}`);
    options[name] = rest[at + 1];
  }
  return options;
}

export interface Span {
  readonly offset: number;
  readonly count: number;
}

export function span(offset: unknown, count: unknown, command: string): Span {
  return {
    offset: wholeArgument(offset ?? 0, command, 'offset'),
    count: wholeArgument(count ?? 25, command, 'count'),
  };
}

const shown = (value: unknown): string => (JSON.stringify(value) as string | undefined) ?? 'nil';

/** Returns an argument as text. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : shown(value));

/** Returns the entry of a table under a name from outside: its own entries only. */
export function own<Entry>(table: Readonly<Record<string, Entry>>, name: unknown): Entry | undefined {
  return Object.hasOwn(table, asText(name)) ? table[asText(name)] : undefined;
}
