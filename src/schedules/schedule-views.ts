/** Returns schedules with the states of their last jobs, by one read of the jobs for all of them. */
import type { JobState } from '../core/job/job.ts';
import type { Store } from '../core/ports/store.ts';
import type { Schedule } from '../core/schedules/schedule.ts';
import type { ScheduleView } from '../wire/schedule-view.ts';
import { scheduleView } from '../wire/schedule-view.ts';

const MAX_IDS = 1_000;

export async function scheduleViews(
  store: Store,
  schedules: readonly Schedule[],
  now: number,
): Promise<readonly ScheduleView[]> {
  const ids = [...new Set(schedules.flatMap(({ recent }) => recent.flatMap(({ id }) => (id === null ? [] : [id]))))];
  const states = new Map<string, JobState>();
  for (let from = 0; from < ids.length; from += MAX_IDS) {
    for (const job of await store.jobs.find(ids.slice(from, from + MAX_IDS))) if (job) states.set(job.id, job.state);
  }
  return schedules.map((schedule) => scheduleView(schedule, { now, states }));
}
