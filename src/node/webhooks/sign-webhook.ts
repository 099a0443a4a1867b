/**
 * Signatures of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`, one for each secret, so that a receiver may
 * hold either secret during a rotation. Pure; never returns a secret.
 */
import { createHash, createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** Returns the problem of a secret, without repeating it, or null. */
export function secretProblem(secret: string): string | null {
  const isRight = secret.startsWith(PREFIX) && /^[A-Za-z0-9+/]+={0,2}$/.test(secret.slice(PREFIX.length));
  const bytes = isRight ? keyOf(secret).length : 0;
  return bytes >= 24 && bytes <= 64 ? null : 'must be whsec_ and 24 to 64 bytes in base64';
}

const keyOf = (secret: string): Buffer => Buffer.from(secret.slice(PREFIX.length), 'base64');

/**
 * Returns the id of a call for the receiver: the same for every try, and unique to the store. It has no dots, since
 * dots separate the signed parts.
 */
export function webhookId(webhookJob: string, store: string): string {
  return `msg_${createHash('sha256').update(`${store} ${webhookJob}`).digest('hex').slice(0, 32)}`;
}

export interface Signed {
  readonly id: string;
  /** The time of this try, so that an old call cannot be replayed. */
  readonly at: number;
  readonly body: string;
  readonly secrets: readonly string[];
}

export function signedHeaders({ id, at, body, secrets }: Signed): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const content = `${id}.${timestamp}.${body}`;
  const signatures = secrets.map(
    (secret) => `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`,
  );
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures.join(' ') };
}
