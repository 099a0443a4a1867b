/**
 * Sessions of the web UI, created by a login with a token or with a one-time code. Both are records with an expiry, so
 * that sessions survive a restart of the node and a used code stays used.
 */
import { fields, integer, oneOf, orNull, text } from '../../core/input/check.ts';
import { displayName } from '../../core/job/names.ts';
import type { Records, StoredRecord } from '../../core/ports/records.ts';
import type { Role } from '../../wire/role.ts';
import { ROLES } from '../../wire/role.ts';
import { isCredential, newCredential, readCredential } from './credential.ts';
import { readValue, sha256Text } from './tokens.ts';

export const SESSION_RECORD = 'session';
export const CODE_RECORD = 'login-code';
export const SESSION_MS = 12 * 3_600_000;
const CODE_MS = 3_600_000;

export interface Session {
  readonly actor: string;
  readonly role: Role;
  /** The token of the login; the session ends with it. Null for a login by code. */
  readonly token: string | null;
  readonly sha256: string;
  readonly createdAt: number;
}

const stored = fields({
  actor: displayName,
  role: oneOf(...ROLES),
  token: orNull(text({ max: 64 })),
  sha256: sha256Text,
  createdAt: integer(0, Number.MAX_SAFE_INTEGER),
});

/** Creates a session and returns the text for the cookie. */
export async function makeSession(
  records: Records,
  { actor, role, token }: Pick<Session, 'actor' | 'role' | 'token'>,
  now: number,
): Promise<string> {
  const { id, text: secret, sha256 } = newCredential('session');
  const value = JSON.stringify({ actor, role, token, sha256, createdAt: now } satisfies Session);
  await records.put({ kind: SESSION_RECORD, key: id, value, ifVersion: 0, expiresAt: now + SESSION_MS });
  return secret;
}

export function readSession({ value }: StoredRecord): Session | null {
  return readValue(value, stored);
}

/** Creates a code for `/login#…`: valid for one admin login within an hour. */
export async function makeLoginCode(records: Records, now: number): Promise<string> {
  const { id, text: secret, sha256 } = newCredential('code');
  const value = JSON.stringify({ sha256 });
  await records.put({ kind: CODE_RECORD, key: id, value, ifVersion: 0, expiresAt: now + CODE_MS });
  return secret;
}

/** Consumes a code and returns whether it was valid. Of two concurrent logins, the conditional delete admits one. */
export async function takeLoginCode(records: Records, code: string): Promise<boolean> {
  const read = readCredential(code);
  const record = read?.kind === 'code' ? await records.get(CODE_RECORD, read.id) : null;
  if (record === null) return false;
  const value = readValue(record.value, fields({ sha256: sha256Text }));
  if (value === null || !isCredential(code, value.sha256)) return false;
  return (await records.delete(CODE_RECORD, record.key, { ifVersion: record.version })).ok;
}
