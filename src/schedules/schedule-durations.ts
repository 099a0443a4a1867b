/** The expected run time of a schedule's jobs: the mean of its last days, from the statistics of the schedule's tag. */
import type { Store } from '../core/ports/store.ts';
import type { Schedule } from '../core/schedules/schedule.ts';
import { scheduleTag } from '../core/schedules/schedule.ts';
import { dayOf, dayText } from '../core/statistics/statistics.ts';

const DAYS = 7;

/** Returns the run times by name. A schedule without a completed job has none. */
export async function expectedDurations(
  store: Store,
  schedules: readonly Schedule[],
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const queues = [...new Set(schedules.map(({ definition }) => definition.job.queue))];
  const from = dayText(dayOf(now) - DAYS + 1);
  const sums = new Map<string, { count: number; ms: number }>();
  for (const queue of queues) {
    for (const { of, run } of await store.jobs.insight({ kind: 'statistics', queue, from, by: 'tag' })) {
      const sum = sums.get(`${queue} ${of}`) ?? { count: 0, ms: 0 };
      sums.set(`${queue} ${of}`, { count: sum.count + run.count, ms: sum.ms + run.count * run.mean });
    }
  }
  return new Map(
    schedules.flatMap(({ name, definition }) => {
      const { count, ms } = sums.get(`${definition.job.queue} ${scheduleTag(name)}`) ?? { count: 0, ms: 0 };
      return count === 0 ? [] : [[name, ms / count]];
    }),
  );
}
