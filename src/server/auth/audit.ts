/**
 * The audit log: one row for each operation of operators and admins, with its result. Rows are records of kind `audit`.
 * Their keys decrease with time, so that a page begins with the newest row. Rows expire after 90 days.
 *
 * Invariant: no route changes or deletes a row. Control characters in names are escaped, so that a name cannot forge a
 * line or move the cursor of a terminal.
 */
import { randomBytes } from 'node:crypto';
import type { Check } from '../../core/input/check.ts';
import { fields, integer, oneOf, orNull, text } from '../../core/input/check.ts';
import type { Records } from '../../core/ports/records.ts';
import type { Role } from '../../wire/role.ts';
import { ROLES } from '../../wire/role.ts';
import type { Answered } from '../http/dispatch.ts';

export const AUDIT_RECORD = 'audit';
const KEPT_MS = 90 * 86_400_000;
const MAX_TEXT = 500;
/** Later than any real time: the difference to it decreases with time. */
const END_OF_TIME = 10 ** 15;
const DIGITS = 15;
// C0 and C1 control characters, line separators, and bidirectional formatting characters.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly role: Role;
  readonly from: string;
  /** The id of the token, if one was used. */
  readonly token: string | null;
  /** The name of the route, such as `jobs.cancel`. */
  readonly action: string;
  /** Method and path. */
  readonly target: string;
  readonly status: number;
  /** `ok`, or the code of the problem. */
  readonly result: string;
}

const word = text({ max: MAX_TEXT });
export const auditRow: Check<AuditRow> = fields({
  at: integer(0, Number.MAX_SAFE_INTEGER),
  actor: word,
  role: oneOf(...ROLES),
  from: word,
  token: orNull(word),
  action: word,
  target: word,
  status: integer(100, 599),
  result: word,
});

/** Orders rows of the same millisecond within a process. */
const nextRow = countUp();

function countUp(): () => number {
  let count = 0;
  return () => (count += 1);
}

const sortable = (left: number): string => String(left).padStart(DIGITS, '0');

/** Writes the row of an answered request, if its route is audited. */
export async function writeAudit(records: Records, answered: Answered, now: number): Promise<void> {
  const row = rowOf(answered, now);
  if (row === null) return;
  const key = `${sortable(END_OF_TIME - now)}-${sortable(END_OF_TIME - nextRow())}-${randomBytes(6).toString('hex')}`;
  await records.put({ kind: AUDIT_RECORD, key, value: JSON.stringify(row), ifVersion: 0, expiresAt: now + KEPT_MS });
}

function rowOf({ request, route, principal, reply }: Answered, at: number): AuditRow | null {
  // Calls between nodes are not audited: a row for every copy would bury the operators' rows.
  if (route === null || principal === null || !route.audit || principal.node !== undefined) return null;
  return {
    at,
    actor: escaped(principal.actor),
    role: principal.role,
    from: escaped(principal.from),
    token: principal.token,
    action: route.name,
    target: escaped(`${request.method ?? ''} ${withoutQuery(request.url ?? '')}`),
    status: reply.status,
    result: resultOf(reply),
  };
}

function resultOf({ status, body }: Answered['reply']): string {
  const code = body.kind === 'json' && typeof body.value === 'object' && body.value !== null ? body.value : {};
  return status < 400 || !('code' in code) ? (status < 400 ? 'ok' : String(status)) : escaped(String(code.code));
}

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '');

/** Escapes unsafe characters and truncates the text, for display in one line. */
export function escaped(given: string): string {
  const safe = given.replace(UNSAFE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return safe.length <= MAX_TEXT ? safe : `${safe.slice(0, MAX_TEXT - 1)}…`;
}
