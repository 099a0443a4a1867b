/**
 * What the store's clock must not take with it when it steps back: times that were computed while it was ahead are
 * counted from the new now.
 */
import { restartedLease } from '../lifecycle.ts';
import { rateFitted } from '../rate.ts';
import type { Table } from '../table.ts';

/** After a step back that is believed (clock.ts): running leases start again, and no rate is used up beyond one period. */
export function stepBack(table: Table, now: number): void {
  for (const job of table.allRunning()) table.replace(job, restartedLease(job, now), null);
  for (const queue of table.queues()) fitRate(table, queue, now);
}

/** The queue's rate or the clock is another: the memory of starts reaches no further than one period of the rate. */
export function fitRate(table: Pick<Table, 'settings' | 'rateAt' | 'setRateAt'>, queue: string, now: number): void {
  const { rate } = table.settings(queue);
  const at = table.rateAt(queue);
  if (rate === null || at === 0) return;
  const fitted = rateFitted(rate, at, now);
  if (fitted !== at) table.setRateAt(queue, fitted);
}
