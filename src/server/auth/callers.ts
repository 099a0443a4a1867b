/**
 * Who a credential belongs to. What the store said is believed for two seconds, so that a busy caller costs no look-up
 * a request and a revoked one is out soon after.
 */
import type { Records } from '../../core/ports/records.ts';
import type { Role } from '../../wire/role.ts';
import type { CredentialKind } from './credential.ts';
import { isCredential, readCredential } from './credential.ts';
import { CODE_RECORD, readSession, SESSION_RECORD, takeLoginCode } from './sessions.ts';
import { readToken, TOKEN_RECORD } from './tokens.ts';

export interface Caller {
  readonly kind: CredentialKind;
  /** Of the token, session or code itself. */
  readonly id: string;
  readonly actor: string;
  readonly role: Role;
  /** The token behind it; null where there is none. */
  readonly token: string | null;
}

interface Kept {
  readonly caller: Caller;
  readonly sha256: string;
  readonly endsAt: number | null;
}

export const BELIEVED_MS = 2_000;
const MOST_BELIEVED = 10_000;
/** Compared with when nobody is known by an id, so that the time it takes does not tell. */
const NOBODYS_HASH = '0'.repeat(64);
const RECORD_KINDS = { token: TOKEN_RECORD, session: SESSION_RECORD, code: CODE_RECORD } as const;

export class Callers {
  readonly #records: Records;
  readonly #now: () => number;
  readonly #believed = new Map<string, { readonly kept: Kept; readonly until: number }>();

  constructor(records: Records, now: () => number) {
    this.#records = records;
    this.#now = now;
  }

  /** Null: nobody is known by it. */
  async find(text: string): Promise<Caller | null> {
    const read = readCredential(text);
    if (read === null || read.kind === 'code') return null;
    const kept = await this.#known(read.kind, read.id);
    const isRight = isCredential(text, kept?.sha256 ?? NOBODYS_HASH);
    return kept !== null && isRight ? kept.caller : null;
  }

  /** A code lets in once, and as admin. */
  async takeCode(text: string): Promise<Caller | null> {
    const id = readCredential(text)?.id ?? '';
    if (!(await takeLoginCode(this.#records, text))) return null;
    return { kind: 'code', id, actor: 'login-link', role: 'admin', token: null };
  }

  /** Asks the store anew. */
  async isStill({ kind, id }: Caller): Promise<boolean> {
    this.#believed.delete(`${kind}/${id}`);
    return (await this.#known(kind, id)) !== null;
  }

  async #known(kind: CredentialKind, id: string): Promise<Kept | null> {
    const now = this.#now();
    const place = `${kind}/${id}`;
    const believed = this.#believed.get(place);
    if (believed !== undefined && believed.until > now) return this.#unlessEnded(believed.kept);
    const kept = await this.#read(kind, id);
    if (this.#believed.size >= MOST_BELIEVED) this.#believed.clear();
    if (kept === null) this.#believed.delete(place);
    else this.#believed.set(place, { kept, until: now + BELIEVED_MS });
    return kept === null ? null : this.#unlessEnded(kept);
  }

  #unlessEnded(kept: Kept): Kept | null {
    return kept.endsAt === null || kept.endsAt > this.#now() ? kept : null;
  }

  async #read(kind: CredentialKind, id: string): Promise<Kept | null> {
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
    const isOver = token !== null && (await this.#known('token', token)) === null;
    return isOver ? null : { caller: { kind, id, actor, role, token }, sha256, endsAt: record.expiresAt };
  }
}
