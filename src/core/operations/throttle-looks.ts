/** Looking at throttles: who holds their slots, who waits for one, and what keeps a job back. Nothing here writes. */
import type { Moment } from '../clock.ts';
import type { QuestionOf, ThrottleUse } from '../insight.ts';
import { MOST_HOLDERS } from '../insight.ts';
import { labelOf } from '../label.ts';
import type { Table } from '../table.ts';
import { byText } from '../text-order.ts';
import type { Brake } from '../throttle.ts';
import { brakeOn, maxOf } from './throttles.ts';

/** Of jobs that are ready but for a limit; null for every other. */
export function brakes(table: Table, { ids }: QuestionOf<'brakes'>, { now }: Moment): readonly (Brake | null)[] {
  return ids.map((id) => {
    const job = table.get(id);
    const isReady = job !== undefined && labelOf(job, table.settings(job.queue), now).label === 'ready';
    return isReady ? brakeOn(table, job, now) : null;
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
