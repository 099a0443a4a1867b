/**
 * Tokens for programs, stored as records of kind `token`; the key is the id. The role of a token never changes: create
 * another token instead.
 */
import type { Check } from '../../core/input/check.ts';
import { fields, integer, oneOf, orNull, text } from '../../core/input/check.ts';
import { displayName } from '../../core/job/names.ts';
import type { Records, StoredRecord } from '../../core/ports/records.ts';
import type { Role } from '../../wire/role.ts';
import { ROLES } from '../../wire/role.ts';
import { newCredential } from './credential.ts';

export const TOKEN_RECORD = 'token';

export interface Token {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly createdAt: number;
  /** Null: valid until revoked. */
  readonly expiresAt: number | null;
}

export type StoredToken = Token & { readonly sha256: string };

export interface TokenInput {
  readonly name: string;
  readonly role: Role;
  readonly expiresAt: number | null;
}

const at = integer(0, Number.MAX_SAFE_INTEGER);
export const sha256Text: Check<string> = text({ max: 64, pattern: /^[0-9a-f]{64}$/, must: 'must be a SHA-256' });
const stored = fields({
  name: displayName,
  role: oneOf(...ROLES),
  sha256: sha256Text,
  createdAt: at,
  expiresAt: orNull(at),
});

/** Creates a token. The text is returned only here and never stored. */
export async function makeToken(
  records: Records,
  { name, role, expiresAt }: TokenInput,
  now: number,
): Promise<{ readonly token: Token; readonly text: string }> {
  const { id, text: secret, sha256 } = newCredential('token');
  const value = JSON.stringify({ name, role, sha256, createdAt: now, expiresAt });
  const expiry = expiresAt === null ? {} : { expiresAt };
  await records.put({ kind: TOKEN_RECORD, key: id, value, ifVersion: 0, ...expiry });
  return { token: { id, name, role, createdAt: now, expiresAt }, text: secret };
}

/** Parses a token record; null if malformed, so that a damaged record admits no caller. */
export function readToken({ key, value }: StoredRecord): StoredToken | null {
  const read = readValue(value, stored);
  return read === null ? null : { id: key, ...read };
}

/** Parses the value of a record; null if it fails its check. */
export function readValue<T>(json: string, check: Check<T>): T | null {
  let isValid = true;
  const read = check(parsed(json), () => void (isValid = false), '');
  return isValid ? read : null;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}
