/**
 * The audit log: one row for each operation of operators and admins, with what it changed and its result. Rows are
 * records of kind `audit`. Their keys decrease with time, so that a page begins with the newest row. Rows expire after 90 days.
 *
 * Invariant: no route changes or deletes a row. Control characters in names are escaped, so that a name cannot forge a
 * line or move the cursor of a terminal.
 */
import { randomBytes } from 'node:crypto';
import type { Check } from '../../core/input/check.ts';
import { fields, integer, listOf, oneOf, orNull, text } from '../../core/input/check.ts';
import { OUTBOX_RECORD } from '../../core/outbox/outbox-report.ts';
import type { Store } from '../../core/ports/store.ts';
import { SCHEDULE_RECORD } from '../../core/schedules/schedule.ts';
import { CLOCK_RECORD } from '../../schedules/store-time.ts';
import type { AuditChange, AuditRow, AuditSubject } from '../../wire/audit/audit-row.ts';
import { ROLES } from '../../wire/role.ts';
import type { Answered } from '../http/dispatch.ts';
import { changesBetween, MAX_CHANGES } from './audit-changes.ts';
import type { AuditState } from './audit-subject.ts';
import { stateOf } from './audit-subject.ts';
import { verbOf } from './audit-verbs.ts';

export const AUDIT_RECORD = 'audit';
const KEPT_MS = 90 * 86_400_000;
const MAX_TEXT = 500;
/** Later than any real time: the difference to it decreases with time. */
const END_OF_TIME = 10 ** 15;
const DIGITS = 15;
// C0 and C1 control characters, line separators, and bidirectional formatting characters.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;

const word = text({ max: MAX_TEXT });
export const auditRow: Check<AuditRow> = fields(
  {
    at: integer(0, Number.MAX_SAFE_INTEGER),
    actor: word,
    role: oneOf(...ROLES),
    from: word,
    token: orNull(word),
    action: word,
    target: word,
    status: integer(100, 599),
    result: word,
  },
  {
    verb: word,
    subject: orNull(fields({ kind: word, key: word, name: orNull(word), queue: orNull(word) })),
    changes: listOf(fields({ name: word, from: orNull(word), to: orNull(word) }), MAX_CHANGES),
  },
);

/** Orders rows of the same millisecond within a process. */
const nextRow = countUp();

function countUp(): () => number {
  let count = 0;
  return () => (count += 1);
}

const sortable = (left: number): string => String(left).padStart(DIGITS, '0');

/** Writes the row of an answered request, if its route is audited. */
export async function writeAudit(store: Store, answered: Answered, now: number): Promise<void> {
  const row = await rowOf(store, answered, now);
  if (row === null) return;
  const key = `${sortable(END_OF_TIME - now)}-${sortable(END_OF_TIME - nextRow())}-${randomBytes(6).toString('hex')}`;
  const value = JSON.stringify(row);
  await store.records.put({ kind: AUDIT_RECORD, key, value, ifVersion: 0, expiresAt: now + KEPT_MS });
}

async function rowOf(store: Store, answered: Answered, at: number): Promise<AuditRow | null> {
  const { request, route, principal, reply, before } = answered;
  // Calls between nodes are not audited: a row for every copy would bury the operators' rows.
  if (route === null || principal === null || !route.audit || principal.node !== undefined) return null;
  const result = resultOf(reply);
  const after = before === null || result !== 'ok' ? null : await stateOf(store, before.subject);
  const changes = after === null ? [] : changesBetween(before?.values ?? null, after.values);
  if (isRoutine(route.name, after, changes)) return null;
  return {
    at,
    actor: escaped(principal.actor),
    role: principal.role,
    from: escaped(principal.from),
    token: principal.token,
    action: route.name,
    target: escaped(`${request.method ?? ''} ${withoutQuery(request.url ?? '')}`),
    status: reply.status,
    result,
    verb: verbOf(route.name),
    subject: before === null ? null : escapedSubject((after ?? before).subject),
    changes: [...changes.map(escapedChange), ...jobsDone(reply)],
  };
}

/** Records that workers write all the time: the clock of schedules, the state of outboxes, the position of a schedule. */
function isRoutine(route: string, after: AuditState | null, changes: readonly AuditChange[]): boolean {
  if (route !== 'store.records.put' || after === null) return false;
  const { kind } = after.subject;
  return kind === CLOCK_RECORD || kind === OUTBOX_RECORD || (kind === SCHEDULE_RECORD && changes.length === 0);
}

const escapedOrNull = (given: string | null): string | null => (given === null ? null : escaped(given));
const escapedSubject = ({ kind, key, name, queue }: AuditSubject): AuditSubject => ({
  kind: escaped(kind),
  key: escaped(key),
  name: escapedOrNull(name),
  queue: escapedOrNull(queue),
});
const escapedChange = ({ name, from, to }: AuditChange): AuditChange => ({
  name: escaped(name),
  from: escapedOrNull(from),
  to: escapedOrNull(to),
});

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/** Returns how many jobs a bulk operation changed. */
function jobsDone({ body }: Answered['reply']): readonly AuditChange[] {
  const done = body.kind === 'json' && isFields(body.value) ? body.value['ok'] : null;
  return typeof done === 'number' ? [{ name: 'jobs', from: null, to: String(done) }] : [];
}

/** Returns `ok`, the code of the problem, or that of the store's refusal, which a port returns with status 200. */
function resultOf({ status, body }: Answered['reply']): string {
  const value: unknown = body.kind === 'json' ? body.value : null;
  if (status >= 400) return isFields(value) && 'code' in value ? escaped(String(value['code'])) : String(status);
  const results: readonly unknown[] = Array.isArray(value) ? value : [value];
  const refused = results.filter((each): each is Fields => isFields(each) && each['ok'] === false);
  if (refused.length === 0) return 'ok';
  if (refused.length < results.length) return `${refused.length} of ${results.length} refused`;
  const { refusal } = refused[0] ?? {};
  return isFields(refusal) ? escaped(String(refusal['code'])) : 'refused';
}

const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '');

/** Escapes unsafe characters and truncates the text, for display in one line. */
export function escaped(given: string): string {
  const safe = given.replace(UNSAFE, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return safe.length <= MAX_TEXT ? safe : `${safe.slice(0, MAX_TEXT - 1)}…`;
}
