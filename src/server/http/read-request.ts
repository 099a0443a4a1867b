/** Reads and checks the parts of a request: path parameters, query and body. All problems are reported together. */
import type { Shape } from '../../core/input/check.ts';
import { fields, object, text } from '../../core/input/check.ts';
import type { Problem } from '../../core/ports/errors.ts';
import { badInput } from '../../core/ports/errors.ts';
import { refuseRequest } from './problem.ts';
import type { Exchange } from './read-body.ts';
import { checkBytes, readJson, refuseBody } from './read-body.ts';
import type { Route } from './route.ts';

export interface Target {
  /** Still percent-encoded: an encoded slash must not separate segments. */
  readonly path: string;
  readonly query: string;
}

/** Splits a request target into path and query. The guard has checked the host of an absolute target. */
export function targetOf(url: string): Target {
  const [, path = '', query = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i.exec(url) ?? [];
  // A client that joins a base URL and a path sends two slashes.
  return { path: path === '' ? '/' : path.replace(/^\/{2,}/, '/'), query };
}

export interface Parts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

export async function readParts(
  exchange: Exchange,
  route: Route,
  raw: { params: Readonly<Record<string, string>>; query: string },
): Promise<Parts> {
  const problems: Problem[] = [];
  const report = (path: string, message: string): undefined => void problems.push({ path, message });
  const params = fields(route.params)(decoded(raw.params), report, '');
  const given = queryOf(raw.query, route.query);
  const query = object({ ...route.query, ...keyedShape(route, given) })(given, report, '');
  const content = await readGiven(exchange, route);
  const body = typeof route.body === 'function' ? route.body(content, report, '') : null;
  if (problems.length > 0) throw badInput('request', problems);
  return { params, query, body };
}

/** Returns checks for the parameters `name[any key]` of a route that accepts them. */
function keyedShape({ keyedQuery }: Route, given: Readonly<Record<string, unknown>>): Shape {
  if (keyedQuery === null) return {};
  const names = Object.keys(given).filter((name) => name.startsWith(`${keyedQuery}[`) && name.endsWith(']'));
  return Object.fromEntries(names.map((name) => [name, queryText]));
}

const queryText = text({ max: 4_096 });

async function readGiven(exchange: Exchange, { body, limits }: Route): Promise<unknown> {
  if (body === null) refuseBody(exchange.request);
  if (body === 'bytes') checkBytes(exchange.request, limits.bodyBytes);
  return typeof body === 'function' ? readJson(exchange, limits.bodyBytes) : null;
}

function decoded(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params).map(([name, part]) => [name, decode(part)]));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuseRequest('bad-request', 'the path has an invalid percent-encoding');
  }
}

/** Parses the query. A repeated parameter becomes a list, which a check for a single value rejects. */
function queryOf(query: string, shape: Shape): Readonly<Record<string, unknown>> {
  const given = new URLSearchParams(query);
  if (given.size > MAX_QUERY) throw refuseRequest('bad-request', `the query may have at most ${MAX_QUERY} parameters`);
  const names = [...new Set(given.keys())];
  return Object.fromEntries(names.map((name) => [name, valueOf(given.getAll(name), shape[name])]));
}

const MAX_QUERY = 100;

function valueOf(values: readonly string[], check: Shape[string] | undefined): unknown {
  return values.length === 1 && check?.schema?.type !== 'array' ? values[0] : values;
}
