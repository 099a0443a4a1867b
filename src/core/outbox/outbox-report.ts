/** The state of an outbox as a record, so that nodes and the doctor see it whichever process relays it. */
import type { Records } from '../ports/records.ts';

export const OUTBOX_RECORD = 'outbox';

export interface OutboxReport {
  /** Rows that are not relayed yet. */
  readonly waiting: number;
  /** Rows that cannot be relayed until they are corrected. */
  readonly failed: number;
  /** When the oldest waiting row was written; null if none waits. */
  readonly oldestAt: number | null;
  /** Why the oldest refused row waits; null if none was refused. */
  readonly problem: string | null;
  /** When, and on which machine, the relay wrote this. */
  readonly at: number;
  readonly host: string;
}

/** After this time without a report, an outbox counts as abandoned and is shown no more. */
const KEEP_MS = 7 * 24 * 60 * 60_000;
const PAGE = 500;

export async function putOutboxReport(records: Records, name: string, report: OutboxReport): Promise<void> {
  const expiresAt = report.at + KEEP_MS;
  await records.put({ kind: OUTBOX_RECORD, key: name, value: JSON.stringify(report), expiresAt });
}

/** Lists the outboxes whose relays write to this store. */
export async function outboxReports(
  records: Pick<Records, 'list'>,
): Promise<readonly { readonly name: string; readonly report: OutboxReport }[]> {
  const found = await records.list({ kind: OUTBOX_RECORD, limit: PAGE });
  return found.map(({ key, value }) => ({ name: key, report: JSON.parse(value) as OutboxReport }));
}

/** Returns how long the oldest row waits: it keeps growing while no relay runs. */
export function outboxLagMs({ oldestAt }: OutboxReport, now: number): number {
  return oldestAt === null ? 0 : Math.max(0, now - oldestAt);
}
