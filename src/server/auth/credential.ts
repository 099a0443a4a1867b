/**
 * Credentials: tokens for programs, sessions for the web UI, and codes for one login.
 *
 * The text is `lh_<id>_<secret>`. The id finds the record; the secret has 256 bits.
 *
 * Invariant: only the SHA-256 of the text is stored, and the comparison takes constant time.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const PREFIXES = { token: 'lh', session: 'lhs', code: 'lhc' } as const;
export type CredentialKind = keyof typeof PREFIXES;

export interface NewCredential {
  readonly id: string;
  /** Shown once and never stored. */
  readonly text: string;
  readonly sha256: string;
}

const ID_BYTES = 8;
const SECRET_BYTES = 32;
const SHAPE = '(lh|lhs|lhc)_([0-9a-f]{16})_[A-Za-z0-9_-]{43}';
const WHOLE = new RegExp(`^${SHAPE}$`);
const ANYWHERE = new RegExp(SHAPE);

export function newCredential(kind: CredentialKind): NewCredential {
  const id = randomBytes(ID_BYTES).toString('hex');
  const text = `${PREFIXES[kind]}_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
  return { id, text, sha256: hashOf(text) };
}

/** Parses kind and id of a credential; null if malformed. It does not check the secret. */
export function readCredential(text: string): { readonly kind: CredentialKind; readonly id: string } | null {
  const [, prefix, id = ''] = WHOLE.exec(text) ?? [];
  const [kind] = (Object.keys(PREFIXES) as CredentialKind[]).filter((each) => PREFIXES[each] === prefix);
  return kind === undefined ? null : { kind, id };
}

export function isCredential(text: string, sha256: string): boolean {
  const kept = Buffer.from(sha256, 'hex');
  const given = Buffer.from(hashOf(text), 'hex');
  return kept.length === given.length && timingSafeEqual(kept, given);
}

export const holdsCredential = (text: string): boolean => ANYWHERE.test(text);

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
