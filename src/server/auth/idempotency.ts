/**
 * Idempotency-Key: a POST that makes something can be repeated with the same key, and gets the first one's answer again
 * for 24 hours.
 *
 * Invariant: what is made under a key has ids worked out from it. So a repeat of a request whose answer was never kept (a
 * crash in between) finds what the first one made, and makes nothing twice.
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

interface Kept {
  /** What was asked, as a hash. */
  readonly asked: string;
  readonly status: number;
  readonly value: unknown;
}

type Work = (newId: () => string) => Promise<Reply>;

export async function idempotent(call: Call, work: Work): Promise<Reply> {
  const given = call.request.headers['idempotency-key'];
  const { context, request, who, body } = call;
  if (given === undefined) return work(() => context.newId());
  if (typeof given !== 'string' || !KEY.test(given))
    throw badInput('request', [{ path: 'Idempotency-Key', message: 'must be 1 to 255 visible characters' }]);
  const asked = hash([request.method, request.url, body]);
  // Of whoever asks: nobody can learn from a guessed key what another one made.
  const key = hash([who.actor, who.token, given]);
  const kept = await context.store.records.get(IDEMPOTENCY_RECORD, key);
  if (kept !== null) return again(JSON.parse(kept.value) as Kept, asked);
  const reply = await work(idsFrom(key));
  await keep(call, key, { asked, status: reply.status, value: reply.body.kind === 'json' ? reply.body.value : null });
  return reply;
}

function again(kept: Kept, asked: string): Reply {
  if (kept.asked !== asked)
    throw refuseRequest('idempotency-key-reused', 'this Idempotency-Key came with another request before');
  return { ...json(kept.value, kept.status), headers: { 'idempotency-replayed': 'true' } };
}

async function keep({ context }: Call, key: string, kept: Kept): Promise<void> {
  const value = JSON.stringify(kept);
  const expiresAt = context.now() + KEEP_MS;
  await context.store.records.put({ kind: IDEMPOTENCY_RECORD, key, value, ifVersion: 0, expiresAt });
}

function idsFrom(key: string): () => string {
  let place = 0;
  return () => {
    place += 1;
    return hash([key, place]).slice(0, 32);
  };
}

function hash(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
