/**
 * The audit: a row for each act of operators and admins, and what came of it. Rows are records of kind `audit` whose
 * keys fall with time, so that the newest is the first of a page; they end by themselves after 90 days.
 *
 * Invariant: no route changes or removes a row. Nothing that stands in a name becomes a line of its own or moves a
 * cursor where rows are shown.
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
const MOST_TEXT = 500;
/** Later than any time that will be written: what is left until then falls as time goes on. */
const END_OF_TIME = 10 ** 15;
const DIGITS = 15;
// Control characters of both sets, line separators, and those that turn the direction of writing.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

export interface AuditRow {
  readonly at: number;
  readonly actor: string;
  readonly role: Role;
  readonly from: string;
  /** The id of the token, where one was used. */
  readonly token: string | null;
  /** The name of the route, such as `jobs.cancel`. */
  readonly action: string;
  /** Method and path. */
  readonly target: string;
  readonly status: number;
  /** `ok`, or the code of the problem. */
  readonly result: string;
}

const word = text({ max: MOST_TEXT });
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

/** Rows of the same millisecond keep their order too; over processes it does not matter. */
const nextRow = countUp();

function countUp(): () => number {
  let count = 0;
  return () => (count += 1);
}

const falling = (left: number): string => String(left).padStart(DIGITS, '0');

/** Writes the row of an answered request, where its route leaves one. */
export async function writeAudit(records: Records, answered: Answered, now: number): Promise<void> {
  const row = rowOf(answered, now);
  if (row === null) return;
  const key = `${falling(END_OF_TIME - now)}-${falling(END_OF_TIME - nextRow())}-${randomBytes(6).toString('hex')}`;
  await records.put({ kind: AUDIT_RECORD, key, value: JSON.stringify(row), ifVersion: 0, expiresAt: now + KEPT_MS });
}

function rowOf({ request, route, who, reply }: Answered, at: number): AuditRow | null {
  // What nodes do among themselves is nobody's act: a row for every copy would bury those of people.
  if (route === null || who === null || !route.audit || who.node !== undefined) return null;
  return {
    at,
    actor: shown(who.actor),
    role: who.role,
    from: shown(who.from),
    token: who.token,
    action: route.name,
    target: shown(`${request.method ?? ''} ${withoutQuery(request.url ?? '')}`),
    status: reply.status,
    result: resultOf(reply),
  };
}

function resultOf({ status, body }: Answered['reply']): string {
  const code = body.kind === 'json' && typeof body.value === 'object' && body.value !== null ? body.value : {};
  return status < 400 || !('code' in code) ? (status < 400 ? 'ok' : String(status)) : shown(String(code.code));
}

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '');

/** As it may stand in a line: unsafe characters as their escapes, and not without end. */
export function shown(given: string): string {
  const safe = given.replace(UNSAFE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return safe.length <= MOST_TEXT ? safe : `${safe.slice(0, MOST_TEXT - 1)}…`;
}
