/** The API's description of itself, for machines and for people. It is made of the very table that it stands in. */
import { described } from '../../core/input/json-schema.ts';
import { openApiOf } from '../http/openapi.ts';
import { json, text } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { API_STYLE, apiPage, STYLE_ADDRESS } from '../views/api-page.ts';

const document = described({ type: 'object', description: 'an OpenAPI 3.1 document' }, (value: unknown) => value);

/** The routes with those that describe them. */
export function withDescription(routes: readonly Route[]): readonly Route[] {
  const all: Route[] = [
    ...routes,
    route({
      name: 'about.openapi',
      method: 'GET',
      path: '/openapi.json',
      about: 'This API as an OpenAPI 3.1 document.',
      role: 'read',
      answer: document,
      handle: ({ context }) => json(openApiOf(all, context.version)),
    }),
    route({
      name: 'about.page',
      method: 'GET',
      path: '/api',
      about: 'This API as a page for people.',
      role: 'read',
      answer: 'text',
      handle: ({ request }) =>
        text(apiPage(all, `http://${request.headers.host ?? 'localhost:3333'}`), 'text/html; charset=utf-8'),
    }),
    route({
      name: 'about.style',
      method: 'GET',
      path: STYLE_ADDRESS,
      about: 'How that page looks.',
      role: 'read',
      answer: 'text',
      handle: () => text(API_STYLE, 'text/css; charset=utf-8'),
    }),
  ];
  return all;
}
