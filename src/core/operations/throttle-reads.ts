/** Looking at throttles: who holds their slots, who waits for one, and what keeps a job back. Nothing here writes. */

import { byText } from '../input/text-order.ts';
import type { Job } from '../job/job.ts';
import { labelOf } from '../job/label.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { needsOf } from '../limits/resources.ts';
import type { Brake } from '../limits/throttle.ts';
import type { QuestionOf, ThrottleUse } from '../ports/insight.ts';
import { MOST_HOLDERS } from '../ports/insight.ts';
import type { Table } from '../ports/table.ts';
import { isTooMuch } from './resources.ts';
import { brakeOn, maxOf } from './throttles.ts';

/** Which limit keeps a job that is ready from being started now; or that nobody could start it. */
export function holdOn(table: Table, job: Job, now: number): Brake | null {
  const brake = brakeOn(table, job, now);
  if (brake !== null || !isTooMuch(table, job, now)) return brake;
  return { by: 'needs', needs: needsOf(job, table.settings(job.queue)) };
}

/** Of jobs that are ready but for a limit; null for every other. */
export function brakes(table: Table, { ids }: QuestionOf<'brakes'>, { now }: Moment): readonly (Brake | null)[] {
  return ids.map((id) => {
    const job = table.get(id);
    const isReady = job !== undefined && labelOf(job, table.settings(job.queue), now).label === 'ready';
    return isReady ? holdOn(table, job, now) : null;
  });
}

export function throttles(table: Table): readonly ThrottleUse[] {
  const holders = new Map<string, string[]>();
  for (const job of [...table.allRunning()].sort((a, b) => a.seq - b.seq))
    for (const address of job.slots) holders.set(address, [...(holders.get(address) ?? []), job.id]);
  const uses = [...holders].map(([address, ids]) => ({
    address,
    max: maxOf(table, address),
    held: ids.length,
    waiting: table.parkedCount(address),
    holders: ids.slice(0, MOST_HOLDERS),
  }));
  return uses.sort((a, b) => byText(a.address, b.address));
}
