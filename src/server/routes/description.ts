/** The API documentation, as OpenAPI and as a page. Both are built from the route table that contains these routes. */
import { described } from '../../core/input/json-schema.ts';
import { openApiOf } from '../http/openapi.ts';
import { PAGE_STYLE, STYLE_ADDRESS } from '../http/page-style.ts';
import { json, text } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { apiPage } from '../views/api-page.ts';

const document = described({ type: 'object', description: 'an OpenAPI 3.1 document' }, (value: unknown) => value);

/** Returns the routes, with the documentation routes added. */
export function withDescription(routes: readonly Route[]): readonly Route[] {
  const all: Route[] = [
    ...routes,
    route({
      name: 'about.openapi',
      method: 'GET',
      path: '/openapi.json',
      about: 'Returns the OpenAPI 3.1 document of this API.',
      role: 'read',
      answer: document,
      handle: ({ context }) => json(openApiOf(all, context.version)),
    }),
    route({
      name: 'about.page',
      method: 'GET',
      path: '/api',
      about: 'Returns the documentation of this API as a web page.',
      role: 'read',
      answer: 'text',
      handle: ({ request }) =>
        text(apiPage(all, `http://${request.headers.host ?? 'localhost:3333'}`), 'text/html; charset=utf-8'),
    }),
    route({
      name: 'about.style',
      method: 'GET',
      path: STYLE_ADDRESS,
      about: 'Returns the style sheet of the login page and of the documentation page.',
      role: 'open',
      answer: 'text',
      handle: () => text(PAGE_STYLE, 'text/css; charset=utf-8'),
    }),
  ];
  return all;
}
