/**
 * The page for people. It holds nothing of anybody's: what it shows it asks of the API, where the guard stands. So it is
 * open, and can ask for a token itself.
 */
import { Readable } from 'node:stream';
import { text as textCheck } from '../../core/input/check.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { text } from '../http/reply.ts';
import type { Call, Route } from '../http/route.ts';
import { route } from '../http/route.ts';

/** As the page itself knows them: web/src/app.tsx. */
const ADDRESSES = [
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
/** What the page keeps in its address: filters, the place in a list, the attempt, the words of a search, what is compared. */
const FILTERS = ['state', 'label', 'text', 'tag', 'name', 'worker', 'group', 'since', 'before', 'after'];
const QUERY = [...FILTERS, 'attempt', 'for', 'a', 'aAttempt', 'b', 'bAttempt'];
const words = textCheck({ max: 4_096 });
const query = Object.fromEntries(QUERY.map((name) => [name, words]));
const HASHED = 'public, max-age=31536000, immutable';

const pages = ADDRESSES.map((path) =>
  route({
    name: `page${path.replace(/[{}]/g, '').replaceAll('/', '.')}`,
    method: 'GET',
    path,
    about: 'The page for people.',
    role: 'open',
    params: Object.fromEntries([...path.matchAll(/\{([a-z]+)\}/g)].map(([, name]) => [name ?? '', part])),
    query,
    answer: 'text',
    handle: ({ context }) => shell(context, path.split('/').length - 2),
  }),
);

export const pageRoutes: readonly Route[] = [
  ...pages,
  route({
    name: 'page.file',
    method: 'GET',
    path: '/assets/{file}',
    about: 'Scripts and styles of the page.',
    role: 'open',
    params: { file: part },
    answer: 'bytes',
    handle: ({ context, params, request }) => file(context, `assets/${params.file}`, request),
  }),
  route({
    name: 'page.icon',
    method: 'GET',
    path: '/icon.svg',
    about: 'The mark of the page.',
    role: 'open',
    answer: 'bytes',
    handle: ({ context, request }) => file(context, 'icon.svg', request),
  }),
];

function shell({ page }: Call['context'], depth: number): Reply {
  const html = page?.html(depth);
  if (html === undefined) throw refuseRequest('no-such-address', 'the page was not built; `npm run build` makes it');
  return text(html, 'text/html; charset=utf-8');
}

function file({ page }: Call['context'], name: string, { headers: asked }: Call['request']): Reply {
  const found = page?.file(name);
  if (found === undefined) throw refuseRequest('no-such-address', `the page has no file ${name}`);
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
