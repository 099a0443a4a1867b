/**
 * Permissions that depend on the content of a request, beyond the role of its route. Setting the script of a queue, its
 * exec prefix, environment or user is code execution, and so is writing the records behind them: both require admin.
 */
import { THROTTLE_RECORD } from '../../core/limits/throttle.ts';
import { OUTBOX_RECORD } from '../../core/outbox/outbox-report.ts';
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

/** Queue settings that decide which code runs, and as which user. */
export const CODE_SETTINGS = ['script', 'execPrefix', 'env', 'user'] as const;
type Values = Readonly<Record<string, unknown>>;

/**
 * Returns the role that a change of queue settings requires. Both arguments are complete records. Removing a value counts
 * as a change too: it can change the user of a script.
 */
export function roleForSettings(before: Values, after: Values): Role {
  return CODE_SETTINGS.every((name) => isSame(before[name], after[name])) ? 'operate' : 'admin';
}

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Never written through the ports, by any role: only operations create audit rows, only logins create sessions, and only
 * the first node creates the secret of the nodes. (Tokens are not listed: an admin may create them either way.)
 */
const OWN_RECORDS: ReadonlySet<string> = new Set([AUDIT_RECORD, SESSION_RECORD, CODE_RECORD, NODE_SECRET_RECORD]);

/** Records that operators write: queues, throttles, schedules and their clock, drain orders, and the state of outboxes. */
const OPERATED_RECORDS: ReadonlySet<string> = new Set([
  QUEUE_RECORD,
  THROTTLE_RECORD,
  SCHEDULE_RECORD,
  CLOCK_RECORD,
  NODE_ORDER_RECORD,
  OUTBOX_RECORD,
]);

/** Includes the identity of the store: workers keep it in their outcome journal. */
const READ_RECORDS: ReadonlySet<string> = new Set([...OPERATED_RECORDS, NODE_RECORD, STORE_RECORD]);

/** Returns the role that reading records of a kind requires; null if no role may. */
export function roleToReadRecords(kind: string): Role | null {
  if (kind === NODE_SECRET_RECORD) return null;
  return READ_RECORDS.has(kind) ? 'read' : 'admin';
}

/**
 * Returns the role that writing records of a kind requires; null if no role may. For queue settings this is the minimum:
 * `roleForSettings` returns what the change itself requires.
 */
export function roleToWriteRecords(kind: string): Role | null {
  if (OWN_RECORDS.has(kind)) return null;
  return OPERATED_RECORDS.has(kind) ? 'operate' : 'admin';
}

/** Refuses jobs of a relay that are not drafts: a relay adds a draft, sends its files and then commits it. */
export function mustBeDrafts(jobs: readonly { readonly draft?: boolean | undefined }[]): void {
  if (jobs.some(({ draft }) => draft !== true)) throw refuseRequest('forbidden', 'the role relay may add only drafts');
}
