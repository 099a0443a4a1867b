/** Every route rejects invalid bodies, queries and paths. The cases are derived from the route table. */
import { describe, expect, it } from 'vitest';
import { checked } from '../../src/core/input/check.ts';
import type { JsonSchema } from '../../src/core/input/json-schema.ts';
import { schemaOf } from '../../src/core/input/json-schema.ts';
import { jobId, queueName } from '../../src/core/job/names.ts';
import { exampleBody, exampleParam } from '../../src/server/http/example.ts';
import type { Route } from '../../src/server/http/route.ts';
import { ROUTES } from '../../src/server/http/route-table.ts';
import { type Answer, startTrial } from './trial-server.ts';

const json = { 'content-type': 'application/json' };
const withBody = ROUTES.filter(({ body }) => typeof body === 'function');
const bodySchema = ({ body }: Route): JsonSchema => (typeof body === 'function' ? schemaOf(body) : {});
const pathOf = ({ path }: Route): string =>
  path.replace(/\{([a-z]+)\}/gi, (_whole, name: string) => exampleParam(name));
const pathsIn = ({ json: problem }: Answer): string[] =>
  ((problem as { problems?: { path: string }[] }).problems ?? []).map(({ path }) => path);
const named = (routes: readonly Route[]) => routes.map((route) => [route.name, route] as const);
/** The object schema of a body, also if the body may be a list of such objects. */
const objectIn = (schema: JsonSchema): JsonSchema =>
  schema.type === 'object' ? schema : (schema.anyOf?.[0] ?? schema);

describe.each(named(withBody))('%s', (_name, route) => {
  const schema = objectIn(bodySchema(route));
  const example = exampleBody(schema) as Readonly<Record<string, unknown>>;
  const ask = async (asked: { body?: unknown; raw?: string }) =>
    (await startTrial()).ask(route.method, pathOf(route), { over: 'socket', headers: json, ...asked });

  it('accepts its own example', () => {
    expect(() => checked('example', example, route.body as never)).not.toThrow();
  });

  it('reports an unknown field', async () => {
    const answer = await ask({ body: { ...example, unheardOf: 1 } });
    expect(answer.status).toBe(400);
    expect(pathsIn(answer)).toEqual(['unheardOf']);
  });

  it('reports every missing field', async () => {
    const required = schema.required ?? [];
    const answer = await ask({ body: {} });
    if (required.length > 0) expect(answer.status).toBe(400);
    if (schema.type === 'object') expect(pathsIn(answer)).toEqual(expect.arrayContaining([...required]));
  });

  it('reports every field of the wrong type', async () => {
    const names = Object.keys(schema.properties ?? {}).filter((name) => !isAnything(schema.properties?.[name]));
    if (names.length === 0) return;
    const wrong = Object.fromEntries(names.map((name) => [name, { wrong: { wrong: true } }]));
    const answer = await ask({ body: { ...example, ...wrong } });
    expect(answer.status).toBe(400);
    for (const name of names) expect(pathsIn(answer).some((path) => path.startsWith(name))).toBe(true);
  });

  it.each(['[[]]', 'null', '"text"', '7'])('rejects %s as its body', async (raw) => {
    expect((await ask({ raw })).status).toBe(400);
  });

  it('rejects a body that is nested too deeply', async () => {
    const answer = await ask({ raw: `{"deep":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}` });
    expect(answer.status).toBe(400);
    expect(pathsIn(answer)[0]).toMatch(/^deep\.a/);
  });
});

function isAnything(schema: JsonSchema = {}): boolean {
  return schema.type === undefined && schema.enum === undefined && schema.anyOf === undefined;
}

describe('a path or query', () => {
  it.each(named(ROUTES.filter(({ answer, body }) => answer !== 'events' && body !== 'bytes')))(
    'of %s takes no word in its query that it does not know',
    async (_name, route) => {
      const body = typeof route.body === 'function' ? { body: exampleBody(bodySchema(route)) } : {};
      const server = await startTrial();
      const answer = await server.ask(route.method, `${pathOf(route)}?unheard=1`, { over: 'socket', ...body });
      expect(answer.status).toBe(400);
      if (route.method !== 'HEAD') expect(pathsIn(answer)).toContain('unheard');
    },
  );

  it.each(named(ROUTES.filter(({ params }) => params['id'] === jobId || params['queue'] === queueName)))(
    'of %s takes no id and no queue that can be none',
    async (_name, route) => {
      const server = await startTrial();
      const path = route.path.replace(/\{[a-z]+\}/gi, encodeURIComponent('<a b>/..'));
      const type = route.body === 'bytes' ? { headers: { 'content-type': 'application/octet-stream' } } : {};
      const answer = await server.ask(route.method, path, { over: 'socket', ...type });
      expect([400, 404]).toContain(answer.status);
    },
  );
});

describe('a job, queue or worker that does not exist', () => {
  const own = /^(jobs|queues|workers)\.(?!list|add|count|matching|create|bulk)/;
  it.each(named(ROUTES.filter(({ name, params }) => own.test(name) && Object.keys(params).length === 1)))(
    'is not found by %s',
    async (_name, route) => {
      const server = await startTrial();
      const body = typeof route.body === 'function' ? { body: exampleBody(bodySchema(route)) } : {};
      const answer = await server.ask(route.method, pathOf(route), { over: 'socket', ...body });
      expect([404, 409]).toContain(answer.status);
      expect(answer.json).toMatchObject({ code: route.name === 'workers.fail' ? 'worker-lost' : 'not-found' });
    },
  );
});
