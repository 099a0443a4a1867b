/**
 * Checking what people hand in. A check turns an unknown value into what it should be, or says what is wrong and
 * what would be right; an object's checks are all made, so that all problems are told at once.
 */
import { parseDuration } from './duration.ts';
import type { Problem } from './errors.ts';
import { badInput } from './errors.ts';
import { parseSize } from './size.ts';

/** Answers the value as it should be, or the problem in words. */
export type Check<T> = (value: unknown, report: Report, path: string) => T;
export type Report = (path: string, message: string) => undefined;

/** Runs a check over a whole input and throws `bad-input` with every problem found. */
export function checked<T>(what: string, value: unknown, check: Check<T>): T {
  const problems: Problem[] = [];
  const answer = check(value, (path, message) => void problems.push({ path, message }), '');
  if (problems.length > 0) throw badInput(what, problems);
  return answer;
}

/** After a reported problem the value is never used: `checked` throws. */
function wrong<T>(report: Report, path: string, message: string): T {
  return report(path, message) as T;
}

export function show(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(JSON.stringify(value) ?? value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export function text(limits: { max: number; pattern?: RegExp; must?: string }): Check<string> {
  return (value, report, path) => {
    if (typeof value !== 'string') return wrong(report, path, `must be a text, not ${show(value)}`);
    if (value.length > limits.max)
      return wrong(report, path, `must have at most ${limits.max} characters, not ${value.length}`);
    if (limits.pattern !== undefined && !limits.pattern.test(value))
      return wrong(report, path, `${limits.must ?? 'is malformed'}, not ${show(value)}`);
    return value;
  };
}

export function integer(min: number, max: number): Check<number> {
  return (value, report, path) => {
    const isRight = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
    return isRight ? value : wrong(report, path, `must be a whole number from ${min} to ${max}, not ${show(value)}`);
  };
}

export function fraction(value: unknown, report: Report, path: string): number {
  const isRight = typeof value === 'number' && value >= 0 && value <= 1;
  return isRight ? value : wrong(report, path, `must be a number from 0 to 1, not ${show(value)}`);
}

export function duration(min = 0): Check<number> {
  return (value, report, path) => {
    const ms = parseDuration(value);
    if (ms === null)
      return wrong(
        report,
        path,
        `must be a duration such as '90s', '10m', '1h30m' or milliseconds, not ${show(value)}`,
      );
    return ms >= min ? ms : wrong(report, path, `must be at least ${min} ms, not ${show(value)}`);
  };
}

export function size(value: unknown, report: Report, path: string): number {
  const bytes = parseSize(value);
  return bytes ?? wrong(report, path, `must be a size such as '512 KB', '2GB' or bytes, not ${show(value)}`);
}

export function flag(value: unknown, report: Report, path: string): boolean {
  return typeof value === 'boolean' ? value : wrong(report, path, `must be true or false, not ${show(value)}`);
}

export function oneOf<const T extends string>(...words: readonly T[]): Check<T> {
  return (value, report, path) => {
    const word = words.find((candidate) => candidate === value);
    return (
      word ?? wrong(report, path, `must be one of ${words.join(', ')}, not ${show(value)}${didYouMean(value, words)}`)
    );
  };
}

export function orNull<T>(check: Check<T>): Check<T | null> {
  return (value, report, path) => (value === null ? null : check(value, report, path));
}

export function listOf<T>(check: Check<T>, max: number): Check<readonly T[]> {
  return (value, report, path) => {
    if (!Array.isArray(value)) return wrong(report, path, `must be a list, not ${show(value)}`);
    if (value.length > max) return wrong(report, path, `must have at most ${max} entries, not ${value.length}`);
    return value.map((entry, place) => check(entry, report, `${path}[${place}]`));
  };
}

/** An object with any keys and one kind of value. */
export function mapOf<T>(check: Check<T>, max: number): Check<Readonly<Record<string, T>>> {
  return (value, report, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(report, path, `must be an object, not ${show(value)}`);
    const entries = Object.entries(value);
    if (entries.length > max) return wrong(report, path, `must have at most ${max} entries, not ${entries.length}`);
    return Object.fromEntries(entries.map(([key, entry]) => [key, check(entry, report, `${path}.${key}`)]));
  };
}

/** A time: a Date, epoch milliseconds, or an ISO text. */
export function time(value: unknown, report: Report, path: string): number {
  const ms = value instanceof Date ? value.getTime() : typeof value === 'string' ? Date.parse(value) : value;
  const isRight = typeof ms === 'number' && Number.isInteger(ms) && ms >= 0 && ms <= 8.64e15;
  return isRight ? ms : wrong(report, path, `must be a Date, epoch milliseconds or an ISO time, not ${show(value)}`);
}

export type Shape = Readonly<Record<string, Check<unknown>>>;
export type Checked<S extends Shape> = { -readonly [Key in keyof S]?: ReturnType<S[Key]> };

/** An object with known keys, each optional; a key left undefined counts as left out. */
export function object<S extends Shape>(shape: S): Check<Checked<S>> {
  return (value, report, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return wrong(report, path, `must be an object, not ${show(value)}`);
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    const read = entries.map(([key, entry]) => [key, checkEntry(shape, key, entry, { report, path })]);
    return Object.fromEntries(read) as Checked<S>;
  };
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

function didYouMean(value: unknown, words: readonly string[]): string {
  if (typeof value !== 'string') return '';
  const near = words
    .map((word) => ({ word, distance: editDistance(value.toLowerCase(), word.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance)[0];
  return near !== undefined && near.distance <= Math.max(2, Math.floor(value.length / 3))
    ? `; did you mean ${near.word}?`
    : '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, place) => place);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
