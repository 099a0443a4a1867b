/** Tokens: create, list and revoke, for admins. Only the answer to the creation contains the secret. */
import { duration, fields, integer, listOf, oneOf, orNull, text } from '../../core/input/check.ts';
import type { Records } from '../../core/ports/records.ts';
import { ROLES } from '../../wire/role.ts';
import type { Token } from '../auth/tokens.ts';
import { makeToken, readToken, TOKEN_RECORD } from '../auth/tokens.ts';
import { refusedReply } from '../http/problem.ts';
import { limitOf, pageLimit } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import { type Route, route } from '../http/route.ts';

const tokenId = text({ max: 16, pattern: /^[0-9a-f]{16}$/, must: 'must be the id of a token: 16 hexadecimal digits' });
const tokenName = text({
  max: 100,
  pattern: /^[^\u0000-\u001f\u007f-\u009f\u2028\u2029]+$/,
  must: 'must be 1 to 100 characters without control characters',
});
const at = integer(0, Number.MAX_SAFE_INTEGER);
const view = { id: tokenId, name: tokenName, role: oneOf(...ROLES), createdAt: at, expiresAt: orNull(at) };
const wanted = fields({ name: tokenName, role: oneOf(...ROLES) }, { expiresIn: orNull(duration(1_000)) });

export const tokenRoutes: readonly Route[] = [
  route({
    name: 'tokens.list',
    method: 'GET',
    path: '/api/tokens',
    about: 'Lists tokens by id, without their secrets.',
    role: 'admin',
    query: { after: tokenId, limit: pageLimit },
    answer: fields({ tokens: listOf(fields(view), 500), next: orNull(tokenId) }),
    handle: ({ query, context }) => list(context.store.records, query.after, limitOf(query)),
  }),
  route({
    name: 'tokens.make',
    method: 'POST',
    path: '/api/tokens',
    about: 'Creates a token. Only this answer contains its text.',
    role: 'admin',
    body: wanted,
    answer: fields({ ...view, token: text({ max: 100 }) }),
    status: 201,
    handle: async ({ body, context }) => {
      const now = context.now();
      const expiresAt = body.expiresIn === undefined || body.expiresIn === null ? null : now + body.expiresIn;
      const { name, role } = body;
      const made = await makeToken(context.store.records, { name, role, expiresAt }, now);
      return json({ ...made.token, token: made.text }, 201);
    },
  }),
  route({
    name: 'tokens.revoke',
    method: 'DELETE',
    path: '/api/tokens/{id}',
    about: 'Revokes a token. It is refused within two seconds; its streams and sessions end within five.',
    role: 'admin',
    params: { id: tokenId },
    answer: 'none',
    status: 204,
    handle: ({ params, context }) => revoke(context.store.records, params.id),
  }),
];

async function list(records: Records, after: string | undefined, limit: number): Promise<Reply> {
  const page = await records.list({ kind: TOKEN_RECORD, limit, ...(after !== undefined && { after }) });
  const tokens = page.flatMap((record) => {
    const token = readToken(record);
    return token === null ? [] : [withoutHash(token)];
  });
  return json({ tokens, next: page.length < limit ? null : (page.at(-1)?.key ?? null) });
}

function withoutHash({ id, name, role, createdAt, expiresAt }: Token): Token {
  return { id, name, role, createdAt, expiresAt };
}

async function revoke(records: Records, id: string): Promise<Reply> {
  const done = await records.delete(TOKEN_RECORD, id);
  return done.ok ? { status: 204, body: { kind: 'none' } } : refusedReply(done.refusal);
}
