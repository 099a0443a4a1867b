/**
 * Schedules as records.
 *
 * Invariant: a write names the version that it read, so neither a change by an operator nor a run at the same time is lost.
 */
import { LonghaulError } from '../core/ports/errors.ts';
import type { Records } from '../core/ports/records.ts';
import type { Refused } from '../core/ports/refusal.ts';
import { refuse } from '../core/ports/refusal.ts';
import type { Schedule } from '../core/schedules/schedule.ts';
import { SCHEDULE_RECORD } from '../core/schedules/schedule.ts';
import type { StoredSchedule } from '../core/schedules/schedule-record.ts';
import { readSchedule } from '../core/schedules/schedule-record.ts';

const PAGE = 500;
const MAX_TRIES = 20;

export type Written = { readonly ok: true; readonly schedule: Schedule } | Refused;

/** Lists the schedules by name. A record that is no schedule is left out and passed to `onUnreadable`. */
export async function listSchedules(
  records: Records,
  onUnreadable?: (name: string) => void,
): Promise<readonly StoredSchedule[]> {
  const found: StoredSchedule[] = [];
  for (let after: string | undefined; ; ) {
    const page = await records.list({ kind: SCHEDULE_RECORD, limit: PAGE, ...(after !== undefined && { after }) });
    for (const record of page) {
      const kept = readSchedule(record);
      if (kept === null) onUnreadable?.(record.key);
      else found.push(kept);
    }
    after = page.at(-1)?.key;
    if (page.length < PAGE) return found;
  }
}

export async function findSchedule(records: Records, name: string): Promise<StoredSchedule | null> {
  const record = await records.get(SCHEDULE_RECORD, name);
  return record === null ? null : readSchedule(record);
}

/** Reads, changes and writes a schedule, again after a conflict. `change` returns the same object to write nothing. */
export async function rewriteSchedule(
  records: Records,
  name: string,
  change: (schedule: Schedule) => Schedule,
): Promise<Written> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const kept = await findSchedule(records, name);
    if (kept === null) return refuse('not-found', `schedule ${name}`);
    const schedule = change(kept.schedule);
    if (schedule === kept.schedule || (await putSchedule(records, schedule, kept.version)))
      return { ok: true, schedule };
  }
  throw tooMany(name);
}

/** Returns false when the schedule was changed meanwhile. */
export async function putSchedule(records: Records, schedule: Schedule, ifVersion: number): Promise<boolean> {
  const value = JSON.stringify(schedule);
  return (await records.put({ kind: SCHEDULE_RECORD, key: schedule.name, value, ifVersion })).ok;
}

export function tooMany(name: string): LonghaulError {
  return new LonghaulError(
    'store-unavailable',
    `schedule ${name} is being changed by too many callers at once: try again`,
  );
}
