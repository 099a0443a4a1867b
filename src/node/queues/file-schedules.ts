/**
 * Schedules that a queue's file names: `schedules` in ours, `schedule` in RQ's. Each is called after its queue. What the file
 * says is set when it says something new; what it no longer names is deleted; what others made is not touched. A file that
 * is gone or cannot be read leaves in force what it said.
 */
import { checked } from '../../core/input/check.ts';
import { scheduleName } from '../../core/job/names.ts';
import type { Store } from '../../core/ports/store.ts';
import type { ScheduleInput } from '../../core/schedules/schedule-input.ts';
import { scheduleInput } from '../../core/schedules/schedule-input.ts';
import { deleteSchedule, setSchedule } from '../../schedules/manage-schedules.ts';
import type { QueueDefinition } from './queue-folder.ts';

/** Its queue is the file's. */
export type FileSchedule = Omit<ScheduleInput, 'queue'>;

/** Remembers what the file said. */
const FILE_RECORD = 'schedule-file';

/** By their whole names; throws `bad-input` for one that is wrong. */
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
