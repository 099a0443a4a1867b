/** The API documentation covers all routes, and its page is plain HTML. */
import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../src/server/http/route-table.ts';
import { PROBLEMS } from '../../src/wire/problem-details.ts';
import { startTrial } from './trial-server.ts';

interface Operation {
  readonly operationId: string;
  readonly 'x-role': string;
  readonly parameters: readonly { name: string; in: string; schema: object }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, { description: string }>>;
}
interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

describe('the OpenAPI document', () => {
  it('has exactly the routes of the table, with parameters, bodies and answers', async () => {
    const server = await startTrial();
    const { paths, openapi } = (await server.ask('GET', '/openapi.json')).json as Document;
    expect(openapi).toBe('3.1.0');
    for (const route of ROUTES) {
      const operation = paths[route.path]?.[route.method.toLowerCase()];
      expect(operation).toMatchObject({ operationId: route.name, 'x-role': route.role });
      const names = [...Object.keys(route.params), ...Object.keys(route.query)];
      expect(operation?.parameters.map(({ name }) => name)).toEqual(names);
      expect(operation?.requestBody !== undefined).toBe(route.body !== null);
      expect(Object.keys(operation?.responses ?? {})).toEqual([String(route.status), 'default']);
    }
    const count = Object.values(paths).flatMap((path) => Object.keys(path)).length;
    expect(count).toBe(ROUTES.length);
  });

  it('declares every path placeholder as a parameter', () => {
    for (const { path, params, name } of ROUTES) {
      const parts = [...path.matchAll(/\{([a-z]+)\}/gi)].map(([, part]) => part ?? '');
      expect([name, new Set(Object.keys(params))]).toEqual([name, new Set(parts)]);
    }
  });
});

describe('the documentation page', () => {
  it('shows every operation and every error code, without inline script or style', async () => {
    const server = await startTrial();
    const page = await server.ask('GET', '/api');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    for (const { name } of ROUTES) expect(page.text).toContain(`<article id="${name}">`);
    for (const code of Object.keys(PROBLEMS)) expect(page.text).toContain(`id="error-${code}"`);
    expect(page.text).not.toMatch(/<script|<style|style=|\son[a-z]+=|https?:\/\/(?!127\.0\.0\.1)/i);
    expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  });

  it('loads its style sheet from the server', async () => {
    const server = await startTrial();
    const [, href = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec((await server.ask('GET', '/api')).text) ?? [];
    expect(await server.ask('GET', `/${href}`)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/css; charset=utf-8' },
    });
  });
});
