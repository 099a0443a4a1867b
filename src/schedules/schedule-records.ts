/**
 * Schedules as records. Invariant: a write names the version it saw, so that a change by a person and a slot that fires
 * at the same time lose neither.
 */
import { LonghaulError } from '../core/ports/errors.ts';
import type { Records } from '../core/ports/records.ts';
import type { Refused } from '../core/ports/refusal.ts';
import { refuse } from '../core/ports/refusal.ts';
import type { Schedule } from '../core/schedules/schedule.ts';
import { SCHEDULE_RECORD } from '../core/schedules/schedule.ts';
import type { KeptSchedule } from '../core/schedules/schedule-record.ts';
import { readSchedule } from '../core/schedules/schedule-record.ts';

const PAGE = 500;
const MOST_TRIES = 20;

export type Written = { readonly ok: true; readonly schedule: Schedule } | Refused;

/** By name. A record that is no schedule is left out, and told of where somebody listens. */
export async function listSchedules(
  records: Records,
  onUnreadable?: (name: string) => void,
): Promise<readonly KeptSchedule[]> {
  const found: KeptSchedule[] = [];
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

export async function findSchedule(records: Records, name: string): Promise<KeptSchedule | null> {
  const record = await records.get(SCHEDULE_RECORD, name);
  return record === null ? null : readSchedule(record);
}

/** Reads, changes and writes until nobody came in between. The same object means that nothing is to be written. */
export async function rewriteSchedule(
  records: Records,
  name: string,
  change: (schedule: Schedule) => Schedule,
): Promise<Written> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const kept = await findSchedule(records, name);
    if (kept === null) return refuse('not-found', `schedule ${name}`);
    const schedule = change(kept.schedule);
    if (schedule === kept.schedule || (await putSchedule(records, schedule, kept.version)))
      return { ok: true, schedule };
  }
  throw tooMany(name);
}

/** False when somebody else changed it meanwhile. */
export async function putSchedule(records: Records, schedule: Schedule, ifVersion: number): Promise<boolean> {
  const value = JSON.stringify(schedule);
  return (await records.put({ kind: SCHEDULE_RECORD, key: schedule.name, value, ifVersion })).ok;
}

export function tooMany(name: string): LonghaulError {
  return new LonghaulError('store-unavailable', `schedule ${name} is being changed by too many at once`);
}
