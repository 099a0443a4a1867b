/**
 * Rows that keep their position: an ended job stays for a moment, marked as ended; new jobs are added below. Pure.
 */
import type { RunningRow } from '../../../src/wire/overview.ts';

export interface KeptRow {
  readonly row: RunningRow;
  /** The time its end was noticed; null while it runs. */
  readonly endedAt: number | null;
}

const ENDED_ROW_MS = 6_000;

export function keepRows(before: readonly KeptRow[], rows: readonly RunningRow[], now: number): readonly KeptRow[] {
  const running = new Map(rows.map((row) => [row.job.id, row]));
  const kept = before.flatMap(({ row, endedAt }): KeptRow[] => {
    const present = running.get(row.job.id);
    if (present !== undefined) return [{ row: present, endedAt: null }];
    const at = endedAt ?? now;
    return now - at < ENDED_ROW_MS ? [{ row, endedAt: at }] : [];
  });
  const known = new Set(kept.map(({ row }) => row.job.id));
  return [...kept, ...rows.filter(({ job }) => !known.has(job.id)).map((row) => ({ row, endedAt: null }))];
}
