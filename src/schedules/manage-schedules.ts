/** Sets, pauses, resumes, runs and deletes schedules. The core decides what each means; the times are the store's. */
import { checked } from '../core/input/check.ts';
import { sameJson } from '../core/input/same-json.ts';
import { scheduleName } from '../core/job/names.ts';
import { badInput } from '../core/ports/errors.ts';
import type { Refused } from '../core/ports/refusal.ts';
import { refuse } from '../core/ports/refusal.ts';
import type { Store } from '../core/ports/store.ts';
import type { Schedule, ScheduleDefinition } from '../core/schedules/schedule.ts';
import {
  manualRun,
  newSchedule,
  nextRunTime,
  pausedSchedule,
  redefined,
  resumedSchedule,
  SCHEDULE_RECORD,
} from '../core/schedules/schedule.ts';
import type { ScheduleInput } from '../core/schedules/schedule-input.ts';
import { toDefinition } from '../core/schedules/schedule-input.ts';
import { readSchedule } from '../core/schedules/schedule-record.ts';
import { addPending } from './fire-schedule.ts';
import type { Written } from './schedule-records.ts';
import { putSchedule, rewriteSchedule, tooMany } from './schedule-records.ts';
import { readStoreTime } from './store-time.ts';

const MAX_TRIES = 20;

export interface SetSchedule {
  readonly outcome: 'created' | 'changed' | 'unchanged';
  readonly schedule: Schedule;
}

/** Creates or changes a schedule. The same definition again changes nothing, so a program may set it at every start. */
export async function setSchedule({ records }: Store, name: string, input: ScheduleInput): Promise<SetSchedule> {
  checked('schedule name', name, scheduleName);
  const definition = toDefinition(input);
  const now = await readStoreTime(records);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const record = await records.get(SCHEDULE_RECORD, name);
    const kept = record === null ? null : readSchedule(record);
    if (kept !== null && sameJson(kept.schedule.definition, definition))
      return { outcome: 'unchanged', schedule: kept.schedule };
    mustFire(definition, now);
    const schedule = kept === null ? newSchedule(name, definition, now) : redefined(kept.schedule, definition, now);
    if (await putSchedule(records, schedule, record?.version ?? 0))
      return { outcome: kept === null ? 'created' : 'changed', schedule };
  }
  throw tooMany(name);
}

function mustFire(definition: ScheduleDefinition, now: number): void {
  if (nextRunTime(definition, now - 1) !== null) return;
  throw badInput('schedule', [{ path: 'until', message: 'is in the past: the schedule would never fire' }]);
}

export async function pauseSchedule({ records }: Store, name: string, note: string | null): Promise<Written> {
  const now = await readStoreTime(records);
  return rewriteSchedule(records, name, (schedule) => pausedSchedule(schedule, note, now));
}

export async function resumeSchedule({ records }: Store, name: string): Promise<Written> {
  const now = await readStoreTime(records);
  return rewriteSchedule(records, name, (schedule) => resumedSchedule(schedule, now));
}

/** Deletes a schedule. Its jobs stay. */
export async function deleteSchedule({ records }: Store, name: string): Promise<{ readonly ok: true } | Refused> {
  const answer = await records.delete(SCHEDULE_RECORD, name);
  return answer.ok ? answer : refuse('not-found', `schedule ${name}`);
}

export type RanNow = { readonly ok: true; readonly id: string; readonly schedule: Schedule } | Refused;

/** Creates one job now. With an id of the caller it can be repeated. */
export async function runScheduleNow(store: Store, name: string, given?: string): Promise<RanNow> {
  const now = await readStoreTime(store.records);
  let id = '';
  const written = await rewriteSchedule(store.records, name, (before) => {
    const { schedule, run } = manualRun(before, now, given);
    id = run.id;
    return schedule;
  });
  if (!written.ok) return written;
  const answers = await addPending(store, written.schedule);
  const answer = answers.get(id);
  if (answer !== undefined && !answer.ok) return answer;
  return { ok: true, id: answer?.id ?? id, schedule: written.schedule };
}
