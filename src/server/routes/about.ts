/** What the server says of itself. */
import { text as textReply } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

export const aboutRoutes: readonly Route[] = [
  route({
    name: 'health',
    method: 'GET',
    path: '/healthz',
    about: 'Whether the server answers at all. Says nothing but ok.',
    role: 'open',
    answer: 'text',
    handle: () => textReply('ok\n'),
  }),
];
