/** Data, results and checkpoints as JSON text. A value that JSON would silently drop or change is rejected. */
import type { Problem } from '../ports/errors.ts';
import { badInput } from '../ports/errors.ts';

export const MAX_JSON_BYTES = 256 * 1024;
const MAX_DEPTH = 200;
const DATE = 'a Date becomes a text in JSON; give its toISOString() or getTime()';

export interface JsonOptions {
  /** A Date is rejected in data, which is checked before any work. In a result it becomes its text. Default: reject. */
  readonly dates?: 'reject' | 'text';
  /** Whether a text over 256 KB is rejected. Default: true. */
  readonly isLimited?: boolean;
}

/** Returns the JSON text of a value; undefined counts as null. Throws `bad-input` with the path. */
export function toJsonText(
  what: string,
  value: unknown,
  { dates = 'reject', isLimited = true }: JsonOptions = {},
): string {
  if (value === undefined || value === null) return 'null';
  const problem = problemOf(value, 0, dates === 'text');
  if (problem !== null) throw badInput(what, [problem]);
  const text = JSON.stringify(value);
  const bytes = !isLimited || text.length * 3 <= MAX_JSON_BYTES ? 0 : new TextEncoder().encode(text).length;
  if (bytes > MAX_JSON_BYTES) {
    const message = `is ${bytes} bytes of JSON, more than ${MAX_JSON_BYTES}; put large content into an attachment and its name here`;
    throw badInput(what, [{ path: '', message }]);
  }
  return text;
}

/** Paths are built on the way back from a problem, because almost all data have none. */
function problemOf(value: unknown, depth: number, allowsDates: boolean): Problem | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : { path: '', message: `${value} is not a JSON number` };
    case 'object':
      return value === null ? null : problemOfObject(value, depth, allowsDates);
    default:
      return { path: '', message: `a ${typeof value} is not JSON` };
  }
}

function problemOfObject(value: object, depth: number, allowsDates: boolean): Problem | null {
  if (depth > MAX_DEPTH) return { path: '', message: `is nested deeper than ${MAX_DEPTH} levels, or contains itself` };
  if (Array.isArray(value)) return problemOfList(value, depth, allowsDates);
  if (value instanceof Date && !allowsDates) return { path: '', message: DATE };
  if ('toJSON' in value && typeof value.toJSON === 'function') return problemOf(value.toJSON(), depth + 1, allowsDates);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return { path: '', message: `a ${value.constructor.name} would lose its kind in JSON; give a plain object` };
  }
  for (const key of Object.keys(value)) {
    const entry = (value as Readonly<Record<string, unknown>>)[key];
    const problem = entry === undefined ? null : problemOf(entry, depth + 1, allowsDates);
    if (problem !== null) return under(key, problem);
  }
  return null;
}

function problemOfList(list: readonly unknown[], depth: number, allowsDates: boolean): Problem | null {
  for (let index = 0; index < list.length; index++) {
    const problem = problemOf(list[index], depth + 1, allowsDates);
    if (problem !== null) return under(`[${index}]`, problem);
  }
  return null;
}

function under(key: string, { path, message }: Problem): Problem {
  return { path: path === '' || path.startsWith('[') ? key + path : `${key}.${path}`, message };
}
