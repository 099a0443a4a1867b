/**
 * Rows that keep their place: one that ended stays for a moment, marked as ended, where it was; new ones come below. Pure.
 */
import type { RunningRow } from '../../../src/wire/overview.ts';

export interface KeptRow {
  readonly row: RunningRow;
  /** When it was first missed; null while it runs. */
  readonly endedAt: number | null;
}

const STAYS_MS = 6_000;

export function keepRows(before: readonly KeptRow[], rows: readonly RunningRow[], now: number): readonly KeptRow[] {
  const running = new Map(rows.map((row) => [row.job.id, row]));
  const kept = before.flatMap(({ row, endedAt }): KeptRow[] => {
    const present = running.get(row.job.id);
    if (present !== undefined) return [{ row: present, endedAt: null }];
    const at = endedAt ?? now;
    return now - at < STAYS_MS ? [{ row, endedAt: at }] : [];
  });
  const known = new Set(kept.map(({ row }) => row.job.id));
  return [...kept, ...rows.filter(({ job }) => !known.has(job.id)).map((row) => ({ row, endedAt: null }))];
}
