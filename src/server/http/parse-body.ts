/** Parses a JSON body. A malformed or too deeply nested body is refused, with the position of the problem. */
import { badInput } from '../../core/ports/errors.ts';

/** Job data may be nested 200 levels; the envelope needs a few more. */
const MAX_DEPTH = 210;
const MAX_PATH = 120;

export function parseBody(body: Buffer): unknown {
  const value = parse(textOf(body));
  const path = tooDeep(value);
  if (path !== null) throw badInput('body', [{ path, message: `is nested deeper than ${MAX_DEPTH} levels` }]);
  return value;
}

function textOf(body: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch {
    throw badInput('body', [{ path: '', message: 'is not valid UTF-8' }]);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badInput('body', [{ path: '', message: `is not valid JSON${positionOf(text, (error as Error).message)}` }]);
  }
}

/** Formats the position from the engine's message: an offset, or an early end. Empty if the message has neither. */
function positionOf(text: string, message: string): string {
  const position = /position (\d+)/.exec(message)?.[1];
  const offset = position === undefined ? (/end of/i.test(message) ? text.length : null) : Number(position);
  if (offset === null) return '';
  const lines = text.slice(0, offset).split('\n');
  const found = offset < text.length ? `unexpected ${JSON.stringify(text[offset])}` : 'unexpected end';
  return `: ${found} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}

/** Returns the path of the first value that is too deep. Uses an explicit stack, since recursion could overflow. */
function tooDeep(value: unknown): string | null {
  const open: { readonly value: unknown; readonly path: string; readonly depth: number }[] = [
    { value, path: '', depth: 0 },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    if (next.depth > MAX_DEPTH) return next.path.slice(0, MAX_PATH);
    for (const [key, entry] of Object.entries(next.value)) {
      if (typeof entry !== 'object' || entry === null) continue;
      open.push({ value: entry, path: under(next.path, key, Array.isArray(next.value)), depth: next.depth + 1 });
    }
  }
  return null;
}

function under(path: string, key: string, isList: boolean): string {
  if (path.length > MAX_PATH) return path;
  if (isList) return `${path}[${key}]`;
  return path === '' ? key : `${path}.${key}`;
}
