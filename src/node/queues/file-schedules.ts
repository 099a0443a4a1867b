/**
 * Schedules of a queue's file: `schedules` in Longhaul's format, `schedule` in RQ's. Their names begin with the queue's
 * name. A changed file is applied; a schedule that it no longer contains is deleted; schedules created elsewhere are
 * not touched. A file that is missing or unreadable leaves its last schedules in effect.
 */
import { checked } from '../../core/input/check.ts';
import { scheduleName } from '../../core/job/names.ts';
import type { Store } from '../../core/ports/store.ts';
import type { ScheduleInput } from '../../core/schedules/schedule-input.ts';
import { scheduleInput } from '../../core/schedules/schedule-input.ts';
import { deleteSchedule, setSchedule } from '../../schedules/manage-schedules.ts';
import type { QueueDefinition } from './queue-folder.ts';

/** The queue comes from the file's name. */
export type FileSchedule = Omit<ScheduleInput, 'queue'>;

/** The schedules that the file last contained. */
const FILE_RECORD = 'schedule-file';

/** Returns the schedules by full name. Throws `bad-input` for an invalid one. */
export function schedulesFor(
  queue: string,
  given: Readonly<Record<string, FileSchedule>>,
): Readonly<Record<string, ScheduleInput>> {
  const entries = Object.entries(given).map(([end, input]) => {
    const name = checked(`schedules.${end}`, `${queue}.${end}`, scheduleName);
    return [name, checked(`schedules.${end}`, { ...input, queue }, scheduleInput)];
  });
  return Object.fromEntries(entries) as Record<string, ScheduleInput>;
}

export async function applySchedules(store: Store, { name, schedules }: QueueDefinition): Promise<void> {
  const before = await store.records.get(FILE_RECORD, name);
  const text = JSON.stringify(schedules);
  if (text === (before?.value ?? '{}')) return;
  for (const [schedule, input] of Object.entries(schedules)) await setSchedule(store, schedule, input);
  const known = Object.keys(before === null ? {} : (JSON.parse(before.value) as object));
  for (const schedule of known.filter((each) => !(each in schedules))) await deleteSchedule(store, schedule);
  await store.records.put({ kind: FILE_RECORD, key: name, value: text });
}
