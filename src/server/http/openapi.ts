/** Builds the OpenAPI 3.1 document from the route table and the schemas of its checks. */
import type { Described, JsonSchema } from '../../core/input/json-schema.ts';
import { schemaOf } from '../../core/input/json-schema.ts';
import { PROBLEM_TYPE, PROBLEMS } from '../../wire/problem-details.ts';
import type { Route } from './route.ts';
import { isStream } from './route.ts';

type Part = Readonly<Record<string, unknown>>;

export function openApiOf(routes: readonly Route[], version: string): Part {
  const paths: Record<string, Record<string, Part>> = {};
  for (const route of routes) (paths[route.path] ??= {})[route.method.toLowerCase()] = operation(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Longhaul',
      version,
      description:
        'A job queue for work that takes minutes to days. Errors are problem details (RFC 9457); each has a `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ token: [] }, {}],
    paths,
    components: { schemas: { Problem: PROBLEM }, securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  };
}

const PROBLEM: JsonSchema = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { type: 'string', description: 'the section of the API page that explains the code' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'what is wrong, and where' },
    code: { enum: Object.keys(PROBLEMS) },
    problems: {
      type: 'array',
      description: 'with code bad-input: every problem with its path',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    holder: { type: 'string', description: 'with code key-taken: the job that holds the unique key' },
    dependents: { type: 'integer', description: 'with code has-dependents: how many jobs depend on the job' },
  },
};

function operation(route: Route): Part {
  const { name, about, role, status, body, limits } = route;
  const size = body === null ? '' : ` At most ${limits.bodyBytes} bytes.`;
  return {
    operationId: name,
    tags: [name.split('.')[0]],
    summary: about,
    description: role === 'open' ? 'Requires no authentication.' : `Requires the role ${role}.${size}`,
    'x-role': role,
    ...(role === 'open' && { security: [] }),
    parameters: [...parameters(route.params, 'path'), ...parameters(route.query, 'query')],
    ...(body !== null && { requestBody: { content: contentOf(isStream(body) ? 'bytes' : body) } }),
    responses: {
      [status]: { description: 'Success.', ...(route.answer !== 'none' && { content: contentOf(route.answer) }) },
      default: {
        description: 'An error.',
        content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  };
}

function parameters(checks: Readonly<Record<string, Described>>, where: 'path' | 'query'): readonly Part[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    in: where,
    required: where === 'path',
    schema: schemaOf(check),
  }));
}

const TYPES: Readonly<Record<'bytes' | 'events' | 'text', string>> = {
  bytes: 'application/octet-stream',
  events: 'text/event-stream',
  text: 'text/plain',
};

function contentOf(kind: Described | 'bytes' | 'events' | 'text' | 'none'): Part {
  if (typeof kind === 'string') return kind === 'none' ? {} : { [TYPES[kind]]: { schema: { type: 'string' } } };
  return { 'application/json': { schema: schemaOf(kind) } };
}
