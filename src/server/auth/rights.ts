/**
 * Rights that depend on what a request says, beyond the role of its route. Naming a script, what stands before it, its
 * environment or its user is code execution, and so is every record by which a node believes such things: admin.
 */

import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import { STORE_RECORD } from '../../core/ports/records.ts';
import { SCHEDULE_RECORD } from '../../core/schedules/schedule.ts';
import { QUEUE_RECORD } from '../../core/settings/settings.ts';
import { NODE_ORDER_RECORD, NODE_RECORD } from '../../node/cluster/node-entry.ts';
import { NODE_SECRET_RECORD } from '../../node/cluster/node-secret.ts';
import { CLOCK_RECORD } from '../../schedules/store-time.ts';
import type { Role } from '../../wire/role.ts';
import { refuseRequest } from '../http/problem.ts';
import { AUDIT_RECORD } from './audit.ts';
import { CODE_RECORD, SESSION_RECORD } from './sessions.ts';

/** Settings of a queue that decide what is executed, and as whom. */
export const CODE_SETTINGS = ['script', 'execPrefix', 'env', 'user'] as const;
type Values = Readonly<Record<string, unknown>>;

/**
 * The role that a change of a queue's settings needs: both are whole records. A value that stays as it was changes
 * nothing; one that is there before and not after is taken away, which matters as much (whom a script runs as).
 */
export function roleForSettings(before: Values, after: Values): Role {
  return CODE_SETTINGS.every((name) => isSame(before[name], after[name])) ? 'operate' : 'admin';
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Never written through the ports, whoever asks: rows of the audit come of acts alone, sessions of logins, and the
 * secret by which nodes know each other of the first of them. (Tokens are an admin's to make, by whichever way.)
 */
const OWN_RECORDS: ReadonlySet<string> = new Set([AUDIT_RECORD, SESSION_RECORD, CODE_RECORD, NODE_SECRET_RECORD]);

/** What operators set up: queues, throttles and schedules, and the record by which schedules learn what time it is for the store. */
const OPERATED_RECORDS: ReadonlySet<string> = new Set([
  QUEUE_RECORD,
  THROTTLE_RECORD,
  SCHEDULE_RECORD,
  CLOCK_RECORD,
  NODE_ORDER_RECORD,
]);

/** Workers keep the identity of the store with the settlements that they could not deliver. */
const READ_RECORDS: ReadonlySet<string> = new Set([...OPERATED_RECORDS, NODE_RECORD, STORE_RECORD]);

/** The role that reading records of a kind needs, or null where nobody may. */
export function roleToReadRecords(kind: string): Role | null {
  if (kind === NODE_SECRET_RECORD) return null;
  return READ_RECORDS.has(kind) ? 'read' : 'admin';
}

/**
 * The role that writing a record needs, or null where nobody may. Of a queue's settings this is the least: see
 * `roleForSettings` for what the change itself needs.
 */
export function roleToWriteRecords(kind: string): Role | null {
  if (OWN_RECORDS.has(kind)) return null;
  return OPERATED_RECORDS.has(kind) ? 'operate' : 'admin';
}

/** A relay hands over whole jobs: it makes drafts, sends their files and commits them, and starts nothing by itself. */
export function mustBeDrafts(jobs: readonly { readonly draft?: boolean | undefined }[]): void {
  if (jobs.some(({ draft }) => draft !== true)) throw refuseRequest('forbidden', 'a relay may add drafts alone');
}
