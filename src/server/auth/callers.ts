/**
 * Finds the caller of a credential. Answers of the store are cached for two seconds, so that a busy caller needs no store
 * call per request and a revoked one is rejected soon.
 */
import type { Records } from '../../core/ports/records.ts';
import type { Role } from '../../wire/role.ts';
import type { CredentialKind } from './credential.ts';
import { isCredential, readCredential } from './credential.ts';
import { CODE_RECORD, readSession, SESSION_RECORD, takeLoginCode } from './sessions.ts';
import { readToken, TOKEN_RECORD } from './tokens.ts';

export interface Caller {
  readonly kind: CredentialKind;
  /** The id of the token, session or code. */
  readonly id: string;
  readonly actor: string;
  readonly role: Role;
  /** The id of the token that a session was created with; null if there is none. */
  readonly token: string | null;
}

interface Stored {
  readonly caller: Caller;
  readonly sha256: string;
  readonly endsAt: number | null;
}

export const CACHE_MS = 2_000;
const MAX_CACHED = 10_000;
/** Compared with when an id is unknown, so that the timing does not reveal whether an id exists. */
const DUMMY_HASH = '0'.repeat(64);
const RECORD_KINDS = { token: TOKEN_RECORD, session: SESSION_RECORD, code: CODE_RECORD } as const;

export class Callers {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #cache = new Map<string, { readonly stored: Stored; readonly until: number }>();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Returns the caller of a token or session; null if the credential is not valid. */
  async find(text: string): Promise<Caller | null> {
    const read = readCredential(text);
    if (read === null || read.kind === 'code') return null;
    const stored = await this.#find(read.kind, read.id);
    const isMatch = isCredential(text, stored?.sha256 ?? DUMMY_HASH);
    return stored !== null && isMatch ? stored.caller : null;
  }

  /** Consumes a login code, which is valid for one admin login. */
  async takeCode(text: string): Promise<Caller | null> {
    const id = readCredential(text)?.id ?? '';
    if (!(await takeLoginCode(this.#records, text))) return null;
    return { kind: 'code', id, actor: 'login-link', role: 'admin', token: null };
  }

  /** Returns whether the credential is still valid, without the cache. */
  async isValid({ kind, id }: Caller): Promise<boolean> {
    this.#cache.delete(`${kind}/${id}`);
    return (await this.#find(kind, id)) !== null;
  }

  async #find(kind: CredentialKind, id: string): Promise<Stored | null> {
    const now = this.#now();
    const key = `${kind}/${id}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined && cached.until > now) return this.#unlessExpired(cached.stored);
    const stored = await this.#read(kind, id);
    if (this.#cache.size >= MAX_CACHED) this.#cache.clear();
    if (stored === null) this.#cache.delete(key);
    else this.#cache.set(key, { stored, until: now + CACHE_MS });
    return stored === null ? null : this.#unlessExpired(stored);
  }

  #unlessExpired(stored: Stored): Stored | null {
    return stored.endsAt === null || stored.endsAt > this.#now() ? stored : null;
  }

  async #read(kind: CredentialKind, id: string): Promise<Stored | null> {
    const record = await this.#records.get(RECORD_KINDS[kind], id);
    if (record === null) return null;
    if (kind === 'token') {
      const token = readToken(record);
      if (token === null) return null;
      const { role, sha256, expiresAt } = token;
      return { caller: { kind, id, actor: `token:${token.name}`, role, token: id }, sha256, endsAt: expiresAt };
    }
    const session = readSession(record);
    if (session === null) return null;
    const { actor, role, token, sha256 } = session;
    const isRevoked = token !== null && (await this.#find('token', token)) === null;
    return isRevoked ? null : { caller: { kind, id, actor, role, token }, sha256, endsAt: record.expiresAt };
  }
}
