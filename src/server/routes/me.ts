/** The identity of the caller. */
import { fields, flag, oneOf, orNull, text } from '../../core/input/check.ts';
import { ROLES } from '../../wire/role.ts';
import { json } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

const word = text({ max: 512 });
const MAX_PATH = 4_096;

export const meRoutes: readonly Route[] = [
  route({
    name: 'me',
    method: 'GET',
    path: '/api/me',
    about:
      'Returns the identity and role of the caller. `hasNode` is false inside another application; `home` is the data directory, for admins and callers on the same machine.',
    role: 'read',
    answer: fields({
      actor: word,
      role: oneOf(...ROLES),
      from: word,
      token: orNull(word),
      version: word,
      hasNode: flag,
      home: orNull(text({ max: MAX_PATH })),
    }),
    handle: ({ principal, context: { version, node, home = null } }) => {
      const { actor, role, from, token } = principal;
      const isNear = role === 'admin' || actor === 'loopback';
      return json({ actor, role, from, token, version, hasNode: node !== null, home: isNear ? home : null });
    },
  }),
];
