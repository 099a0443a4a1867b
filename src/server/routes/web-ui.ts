/**
 * The files of the web UI. They contain no data: the web UI reads everything through the API, which authenticates. So these
 * routes are open, and the web UI can ask for a token itself.
 */
import { Readable } from 'node:stream';
import { text as textCheck } from '../../core/input/check.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { text } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';

/** The same paths as in web/src/app.tsx. */
const PATHS = [
  '/',
  '/queues',
  '/q/{queue}',
  '/q/{queue}/{id}',
  '/schedules',
  '/failures',
  '/workers',
  '/throttles',
  '/settings',
  '/search',
  '/compare',
];
const part = textCheck({ max: 512 });
/** The query parameters of the web UI: filters, the position in a list, the attempt, the search text, the comparison. */
const FILTERS = ['state', 'label', 'text', 'tag', 'name', 'worker', 'group', 'since', 'before', 'after'];
const QUERY = [...FILTERS, 'attempt', 'for', 'a', 'aAttempt', 'b', 'bAttempt'];
const queryText = textCheck({ max: 4_096 });
const query = Object.fromEntries(QUERY.map((name) => [name, queryText]));
const HASHED = 'public, max-age=31536000, immutable';

const pages = PATHS.map((path) =>
  route({
    name: `page${path.replace(/[{}]/g, '').replaceAll('/', '.')}`,
    method: 'GET',
    path,
    about: 'Returns the web UI.',
    role: 'open',
    params: Object.fromEntries([...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => [name ?? '', part])),
    query,
    answer: 'text',
    handle: ({ context }) => shell(context, path.split('/').length - 2),
  }),
);

export const webUiRoutes: readonly Route[] = [
  ...pages,
  route({
    name: 'page.file',
    method: 'GET',
    path: '/assets/{file}',
    about: 'Returns a script or style sheet of the web UI.',
    role: 'open',
    params: { file: part },
    answer: 'bytes',
    handle: ({ context, params, request }) => file(context, `assets/${params.file}`, request),
  }),
  route({
    name: 'page.icon',
    method: 'GET',
    path: '/icon.svg',
    about: 'Returns the icon of the web UI.',
    role: 'open',
    answer: 'bytes',
    handle: ({ context, request }) => file(context, 'icon.svg', request),
  }),
];

/** The answer to a browser for a path that no route has: the web UI, which shows its page for unknown paths. */
export const notFoundPage: Route = route({
  name: 'page.not-found',
  method: 'GET',
  path: '/{path}',
  about: 'Returns the web UI with status 404.',
  role: 'open',
  answer: 'text',
  handle: ({ context, request }) => {
    const path = (request.url ?? '/').replace(/[?#].*$/s, '');
    return { ...shell(context, path.split('/').length - 2), status: 404 };
  },
});

function shell({ page }: Call['context'], depth: number): Reply {
  const html = page?.html(depth);
  if (html === undefined) throw refuseRequest('no-such-address', 'the web UI is not built: run `npm run build`');
  return text(html, 'text/html; charset=utf-8');
}

function file({ page }: Call['context'], name: string, { headers: asked }: Call['request']): Reply {
  const found = page?.file(name);
  if (found === undefined) throw refuseRequest('no-such-address', `the web UI has no file ${name}`);
  const isGzipped = /\bgzip\b/.test(String(asked['accept-encoding'] ?? ''));
  const bytes = isGzipped ? found.gzipped : found.bytes;
  const headers = {
    'content-type': found.type,
    'content-length': String(bytes.length),
    'cache-control': name.startsWith('assets/') ? HASHED : 'no-cache',
    vary: 'accept-encoding',
    ...(isGzipped && { 'content-encoding': 'gzip' }),
  };
  return { status: 200, headers, body: { kind: 'bytes', stream: Readable.from([bytes]) } };
}
