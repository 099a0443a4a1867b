/** As whom the server sees the one who asks. */
import { fields, oneOf, orNull, text } from '../../core/input/check.ts';
import { ROLES } from '../../wire/role.ts';
import { json } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

const word = text({ max: 512 });

export const meRoutes: readonly Route[] = [
  route({
    name: 'me',
    method: 'GET',
    path: '/api/me',
    about: 'As whom the server sees you, and what you may do.',
    role: 'read',
    answer: fields({ actor: word, role: oneOf(...ROLES), from: word, token: orNull(word), version: word }),
    handle: ({ who, context }) => json({ ...who, version: context.version }),
  }),
];
