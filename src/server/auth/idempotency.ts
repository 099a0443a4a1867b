/**
 * Idempotency-Key: a POST that creates something can be repeated with the same key. For 24 hours, the repeat gets the
 * answer of the first request.
 *
 * Invariant: ids of things created under a key are derived from the key. After a crash between creation and storing the
 * answer, a repeat finds what the first request created and creates nothing twice.
 */
import { createHash } from 'node:crypto';
import { badInput } from '../../core/ports/errors.ts';
import { refuseRequest } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Call } from '../http/route.ts';

export const IDEMPOTENCY_RECORD = 'idempotency';
const KEEP_MS = 24 * 3_600_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

interface StoredAnswer {
  /** The hash of the request. */
  readonly asked: string;
  readonly status: number;
  readonly value: unknown;
}

type Work = (newId: () => string) => Promise<Reply>;

export async function idempotent(call: Call, work: Work): Promise<Reply> {
  const given = call.request.headers['idempotency-key'];
  const { context, request, principal, body } = call;
  if (given === undefined) return work(() => context.newId());
  if (typeof given !== 'string' || !KEY.test(given))
    throw badInput('request', [{ path: 'Idempotency-Key', message: 'must be 1 to 255 visible characters' }]);
  const asked = hash([request.method, request.url, body]);
  // Bound to the caller: a guessed key does not reveal what another caller created.
  const key = hash([principal.actor, principal.token, given]);
  const stored = await context.store.records.get(IDEMPOTENCY_RECORD, key);
  if (stored !== null) return replay(JSON.parse(stored.value) as StoredAnswer, asked);
  const reply = await work(idsFrom(key));
  await store(call, key, { asked, status: reply.status, value: reply.body.kind === 'json' ? reply.body.value : null });
  return reply;
}

function replay(stored: StoredAnswer, asked: string): Reply {
  if (stored.asked !== asked)
    throw refuseRequest('idempotency-key-reused', 'this Idempotency-Key was used for another request');
  return { ...json(stored.value, stored.status), headers: { 'idempotency-replayed': 'true' } };
}

async function store({ context }: Call, key: string, answer: StoredAnswer): Promise<void> {
  const value = JSON.stringify(answer);
  const expiresAt = context.now() + KEEP_MS;
  await context.store.records.put({ kind: IDEMPOTENCY_RECORD, key, value, ifVersion: 0, expiresAt });
}

function idsFrom(key: string): () => string {
  let index = 0;
  return () => {
    index += 1;
    return hash([key, index]).slice(0, 32);
  };
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
