/** Data, results and checkpoints as JSON text: what JSON would silently lose or bend is refused instead. */
import { badInput } from './errors.ts';

export const MAX_JSON_BYTES = 256 * 1024;
const MAX_DEPTH = 200;

/** The JSON text of a value; `undefined` as a whole counts as null. Throws `bad-input` naming the place. */
export function toJsonText(what: string, value: unknown): string {
  if (value === undefined || value === null) return 'null';
  const problem = problemOf(value, '', 0);
  if (problem !== null) throw badInput(what, [problem]);
  const text = JSON.stringify(value);
  const bytes = text.length * 3 <= MAX_JSON_BYTES ? 0 : new TextEncoder().encode(text).length;
  if (bytes > MAX_JSON_BYTES) {
    const message = `is ${bytes} bytes of JSON, more than ${MAX_JSON_BYTES}; put large content into an attachment and its name here`;
    throw badInput(what, [{ path: '', message }]);
  }
  return text;
}

interface Place {
  readonly path: string;
  readonly message: string;
}

function problemOf(value: unknown, path: string, depth: number): Place | null {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return null;
    case 'number':
      return Number.isFinite(value) ? null : { path, message: `${value} is not a JSON number` };
    case 'object':
      return value === null ? null : problemOfObject(value, path, depth);
    default:
      return { path, message: `a ${typeof value} is not JSON` };
  }
}

function problemOfObject(value: object, path: string, depth: number): Place | null {
  if (depth > MAX_DEPTH) return { path, message: `is nested deeper than ${MAX_DEPTH} levels, or contains itself` };
  if ('toJSON' in value && typeof value.toJSON === 'function') return problemOf(value.toJSON(), path, depth + 1);
  if (Array.isArray(value))
    return firstProblem(
      value.map((entry, place) => [`${path}[${place}]`, entry]),
      depth,
    );
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return { path, message: `a ${value.constructor.name} would lose its kind in JSON; give a plain object` };
  }
  const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
  return firstProblem(
    entries.map(([key, entry]) => [path === '' ? key : `${path}.${key}`, entry]),
    depth,
  );
}

function firstProblem(entries: readonly (readonly [string, unknown])[], depth: number): Place | null {
  for (const [path, entry] of entries) {
    const problem = problemOf(entry, path, depth + 1);
    if (problem !== null) return problem;
  }
  return null;
}
