/**
 * Input checks. A check turns an unknown value into a typed one, or reports the problem and the expected value. All
 * checks of an object run, so that all problems are reported at once.
 */

import type { Problem } from '../ports/errors.ts';
import { badInput } from '../ports/errors.ts';
import { didYouMean } from './did-you-mean.ts';
import { parseDuration } from './duration.ts';
import type { Described } from './json-schema.ts';
import { described, schemaOf } from './json-schema.ts';
import { parseSize } from './size.ts';

/** Returns the typed value, or reports the problem. */
export interface Check<T> extends Described {
  (value: unknown, report: Report, path: string): T;
}
export type Report = (path: string, message: string) => undefined;

/** Runs a check over a whole input and throws `bad-input` with every problem found. */
export function checked<T>(what: string, value: unknown, check: Check<T>): T {
  const problems: Problem[] = [];
  const answer = check(value, (path, message) => void problems.push({ path, message }), '');
  if (problems.length > 0) throw badInput(what, problems);
  return answer;
}

/** Reports a problem. The returned value is never used: `checked` throws. */
function wrong<T>(report: Report, path: string, message: string): T {
  return report(path, message) as T;
}

export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(JSON.stringify(value) ?? value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

/** Any JSON. */
export const anything: Check<unknown> = described({}, (value: unknown) => value);

export function text(limits: { max: number; pattern?: RegExp; must?: string }): Check<string> {
  const schema = {
    type: 'string',
    maxLength: limits.max,
    ...(limits.pattern && { pattern: limits.pattern.source }),
    ...(limits.must && { description: limits.must }),
  };
  return described(schema, (value: unknown, report: Report, path: string) => {
    if (typeof value !== 'string') return wrong(report, path, `must be a text, not ${show(value)}`);
    if (value.length > limits.max)
      return wrong(report, path, `must have at most ${limits.max} characters, not ${value.length}`);
    if (limits.pattern !== undefined && !limits.pattern.test(value))
      return wrong(report, path, `${limits.must ?? 'is malformed'}, not ${show(value)}`);
    return value;
  });
}

export function integer(min: number, max: number): Check<number> {
  const schema = { type: 'integer', minimum: min, maximum: max };
  return described(schema, (value: unknown, report: Report, path: string) => {
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
    return isRight ? value : wrong(report, path, `must be a whole number from ${min} to ${max}, not ${show(value)}`);
  });
}

export function number(min: number, max: number): Check<number> {
  return described({ type: 'number', minimum: min, maximum: max }, (value: unknown, report: Report, path: string) => {
    const isRight = typeof value === 'number' && value >= min && value <= max;
    return isRight ? value : wrong(report, path, `must be a number from ${min} to ${max}, not ${show(value)}`);
  });
}

export const fraction: Check<number> = number(0, 1);

export function duration(min = 0): Check<number> {
  const schema = {
    type: ['string', 'integer'],
    description: "a duration such as '90s', '10m', '1h30m', or milliseconds",
  };
  return described(schema, (value: unknown, report: Report, path: string) => {
    const ms = parseDuration(value);
    if (ms === null)
      return wrong(
        report,
        path,
        `must be a duration such as '90s', '10m', '1h30m' or milliseconds, not ${show(value)}`,
      );
    return ms >= min ? ms : wrong(report, path, `must be at least ${min} ms, not ${show(value)}`);
  });
}

export const size: Check<number> = described(
  { type: ['string', 'integer'], description: "a size such as '512 KB', '2GB', or bytes" },
  (value: unknown, report: Report, path: string): number =>
    parseSize(value) ?? wrong(report, path, `must be a size such as '512 KB', '2GB' or bytes, not ${show(value)}`),
);

export const flag: Check<boolean> = described(
  { type: 'boolean' },
  (value: unknown, report: Report, path: string): boolean =>
    typeof value === 'boolean' ? value : wrong(report, path, `must be true or false, not ${show(value)}`),
);

export function oneOf<const T extends string>(...values: readonly T[]): Check<T> {
  return described({ enum: values }, (value: unknown, report: Report, path: string) => {
    const match = values.find((candidate) => candidate === value);
    return (
      match ??
      wrong(report, path, `must be one of ${values.join(', ')}, not ${show(value)}${didYouMean(value, values)}`)
    );
  });
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return described({ anyOf: [schemaOf(check), { type: 'null' }] }, (value: unknown, report: Report, path: string) =>
    value === null ? null : check(value, report, path),
  );
}

export function listOf<T>(check: Check<T>, max: number): Check<readonly T[]> {
  const schema = { type: 'array', items: schemaOf(check), maxItems: max };
  return described(schema, (value: unknown, report: Report, path: string) => {
    if (!Array.isArray(value)) return wrong(report, path, `must be a list, not ${show(value)}`);
    if (value.length > max) return wrong(report, path, `must have at most ${max} entries, not ${value.length}`);
    return value.map((entry, index) => check(entry, report, `${path}[${index}]`));
  });
}

/** One of several kinds of object, distinguished by the value of one field. */
export function anyOf<Kinds extends Readonly<Record<string, Check<unknown>>>>(
  name: string,
  kinds: Kinds,
): Check<ReturnType<Kinds[keyof Kinds]>> {
  const kind = oneOf(...Object.keys(kinds));
  const schema = { anyOf: Object.values(kinds).map(schemaOf) };
  return described(schema, (value: unknown, report: Report, path: string) => {
    if (typeof value !== 'object' || value === null)
      return wrong(report, path, `must be an object, not ${show(value)}`);
    const given = (value as Readonly<Record<string, unknown>>)[name];
    const check = kinds[kind(given, report, path === '' ? name : `${path}.${name}`) ?? ''];
    return check?.(value, report, path) as ReturnType<Kinds[keyof Kinds]>;
  });
}

/** An object with any keys and one kind of value. */
export function mapOf<T>(check: Check<T>, max: number): Check<Readonly<Record<string, T>>> {
  const schema = { type: 'object', additionalProperties: schemaOf(check), maxProperties: max };
  return described(schema, (value: unknown, report: Report, path: string) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(report, path, `must be an object, not ${show(value)}`);
    const entries = Object.entries(value);
    if (entries.length > max) return wrong(report, path, `must have at most ${max} entries, not ${entries.length}`);
    return Object.fromEntries(entries.map(([key, entry]) => [key, check(entry, report, `${path}.${key}`)]));
  });
}

/** A time: a Date, epoch milliseconds, or an ISO text. */
export const time: Check<number> = described(
  { type: ['string', 'integer'], description: 'an ISO time, or epoch milliseconds' },
  (value: unknown, report: Report, path: string): number => {
    const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value;
    const isRight = typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= 8.64e15;
    return isRight ? ms : wrong(report, path, `must be a Date, epoch milliseconds or an ISO time, not ${show(value)}`);
  },
);

export type Shape = Readonly<Record<string, Check<unknown>>>;
export type Checked<S extends Shape> = { -readonly [Key in keyof S]?: ReturnType<S[Key]> };

/** An object with known keys, each optional; a key set to undefined counts as missing. */
export function object<S extends Shape>(shape: S): Check<Checked<S>> {
  const properties = Object.fromEntries(Object.entries(shape).map(([key, check]) => [key, schemaOf(check)]));
  const schema = { type: 'object', properties, additionalProperties: false };
  return described(schema, (value: unknown, report: Report, path: string) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(report, path, `must be an object, not ${show(value)}`);
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    const read = entries.map(([key, entry]) => [key, checkEntry(shape, key, entry, { report, path })]);
    return Object.fromEntries(read) as Checked<S>;
  });
}

export type CheckedWith<Needed extends Shape, Optional extends Shape> = {
  -readonly [Key in keyof Needed]: ReturnType<Needed[Key]>;
} & Checked<Optional>;

/** An object with required and optional keys. */
export function fields<Needed extends Shape, Optional extends Shape = Record<never, never>>(
  needed: Needed,
  optional?: Optional,
): Check<CheckedWith<Needed, Optional>> {
  const check = object({ ...needed, ...optional });
  const names = Object.keys(needed);
  const schema = { ...schemaOf(check), required: names };
  return described(schema, (value: unknown, report: Report, path: string) => {
    const read = check(value, report, path) as Readonly<Record<string, unknown>> | undefined;
    const given = read === undefined ? {} : (value as Readonly<Record<string, unknown>>);
    const missing = read === undefined ? [] : names.filter((name) => given[name] === undefined);
    for (const name of missing) report(path === '' ? name : `${path}.${name}`, 'is missing');
    return read as CheckedWith<Needed, Optional>;
  });
}

function checkEntry(
  shape: Shape,
  key: string,
  entry: unknown,
  { report, path }: { report: Report; path: string },
): unknown {
  const at = path === '' ? key : `${path}.${key}`;
  const check = Object.hasOwn(shape, key) ? shape[key] : undefined;
  if (check === undefined) return report(at, `is not known${didYouMean(key, Object.keys(shape))}`);
  return check(entry, report, at);
}
