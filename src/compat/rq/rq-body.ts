/**
 * Reads the body of an RQ client: JSON, a form, or a form with files. Fields become texts; files stay streams.
 */
import { badInput } from '../../core/ports/errors.ts';
import type { Call } from '../../server/http/route.ts';
import { gather, type Part, readMultipart } from './multipart.ts';

/** Names as a form has them, such as `mesg[dest]`; the value of a name that comes twice is the last. */
export type Fields = Readonly<Record<string, string>>;

export type Lists = Readonly<Record<string, readonly string[]>>;

export interface RqBody {
  readonly fields: Fields;
  /** All values of the names that end in `[]`, such as `queue[coalesce_params][]`. */
  readonly lists: Lists;
  /** The whole body where it was JSON. */
  readonly json: Readonly<Record<string, unknown>> | null;
}

const MAX_BODY = 1024 * 1024;

export async function readRqBody(call: Call): Promise<RqBody> {
  const type = call.request.headers['content-type'] ?? '';
  if (/^application\/json\b/i.test(type))
    return { json: parseObject(await whole(call), 'body'), fields: {}, lists: {} };
  if (/^multipart\/form-data\b/i.test(type)) return formBody(await fieldsOf(call, type));
  const form = new URLSearchParams(type === '' && !hasBody(call) ? '' : await formText(call, type));
  return formBody([...form]);
}

function formBody(pairs: readonly (readonly [string, string])[]): RqBody {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of pairs) {
    if (!name.endsWith('[]')) continue;
    lists[name] ??= [];
    lists[name].push(value);
  }
  return { json: null, fields: Object.fromEntries(pairs), lists };
}

export const isMultipart = ({ request: { headers } }: Call): boolean =>
  /^multipart\/form-data\b/i.test(headers['content-type'] ?? '');

/** The parts of a form with a file, one after the other. */
export function filesOf(call: Call): AsyncGenerator<Part> {
  const type = call.request.headers['content-type'] ?? '';
  const boundary = /^multipart\/form-data\b.*;\s*boundary="?([^";]{1,70})"?/i.exec(type)?.[1];
  if (boundary === undefined) throw wrongType('multipart/form-data with a boundary', type);
  return readMultipart(call.bytes(), boundary);
}

export function parseObject(text: string, path: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  } catch {
    // Reported below: invalid JSON and a value that is no object have one message.
  }
  throw badInput('message', [{ path, message: 'must be a JSON object' }]);
}

/** `mesg[dest]=x` → { dest: 'x' }. */
export function fieldsUnder(fields: Fields, name: string): Fields {
  const found = Object.entries(fields).flatMap(([key, value]) => {
    const [, outer, inner] = /^([^[\]]+)\[([^[\]]+)\](?:\[\])?$/.exec(key) ?? [];
    return outer === name && inner !== undefined ? [[inner, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** `queue[coalesce_params][]=1` → { coalesce_params: ['1'] }. */
export function listsUnder(lists: Lists, name: string): Lists {
  const found = Object.entries(lists).flatMap(([key, values]) => {
    const [, outer, inner] = /^([^[\]]+)\[([^[\]]+)\]\[\]$/.exec(key) ?? [];
    return outer === name && inner !== undefined ? [[inner, values] as const] : [];
  });
  return Object.fromEntries(found);
}

async function fieldsOf(call: Call, type: string): Promise<readonly (readonly [string, string])[]> {
  const pairs: (readonly [string, string])[] = [];
  for await (const part of filesOf(call)) {
    if (part.file !== null) throw wrongType('a form without files here', type);
    pairs.push([part.name, (await gather(part.bytes, MAX_BODY)).toString('utf8')]);
  }
  return pairs;
}

async function formText(call: Call, type: string): Promise<string> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    throw wrongType('application/json, application/x-www-form-urlencoded or multipart/form-data', type);
  return whole(call);
}

async function whole(call: Call): Promise<string> {
  return (await gather(call.bytes(), MAX_BODY)).toString('utf8');
}

function hasBody({ request: { headers } }: Call): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function wrongType(wanted: string, type: string): Error {
  return badInput('request', [{ path: 'content-type', message: `must be ${wanted}, not ${type || 'missing'}` }]);
}
