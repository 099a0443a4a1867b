/** The identity of the caller. */
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
    about: 'Returns the identity and role of the caller.',
    role: 'read',
    answer: fields({ actor: word, role: oneOf(...ROLES), from: word, token: orNull(word), version: word }),
    handle: ({ principal, context }) => json({ ...principal, version: context.version }),
  }),
];
