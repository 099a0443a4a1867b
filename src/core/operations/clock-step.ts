/**
 * Rebases times when the store's clock steps back: times computed while it was ahead are counted from the new now.
 *
 * Jobs are scanned by insertion, a bounded number in each call that may write, until all were visited. All of them
 * count from the time of the step, so their order does not depend on the call that reached them.
 */
import type { Reading } from '../lifecycle/clock.ts';
import { rebased, restartedLease } from '../lifecycle/lifecycle.ts';
import { clampedRateAt } from '../limits/rate.ts';
import type { Table } from '../ports/table.ts';

/** How many jobs one call scans, in any state. */
export const MAX_REBASED = 1_000;

/** Runs before each call that may write. */
export function followClock(table: Table, { now, hasSteppedBack }: Reading): void {
  if (hasSteppedBack) stepBack(table, now);
  if (table.clockStep() !== null && table.closed() === null) rebaseSome(table, now);
}

function stepBack(table: Table, now: number): void {
  for (const job of table.allRunning()) table.replace(job, rebased(restartedLease(job, now), { from: now, now }), null);
  for (const queue of table.queues()) fitRate(table, queue, now);
  table.rebaseBuckets(now);
  table.setClockStep({ from: now, afterSeq: 0 });
}

/** Rebases the next jobs. Time alone writes no history row and no event; the claim that follows finds what is due. */
function rebaseSome(table: Table, now: number): void {
  const step = table.clockStep();
  if (step === null) return;
  const { ids, afterSeq } = table.waitingLater({ afterSeq: step.afterSeq, limit: MAX_REBASED, now });
  for (const id of ids) {
    const job = table.get(id);
    const after = job === undefined ? undefined : rebased(job, { from: step.from, now });
    if (job !== undefined && after !== undefined && after !== job) table.replace(job, after, null);
  }
  table.setClockStep(afterSeq === null ? null : { ...step, afterSeq });
}

/** Clamps the state of a queue's rate after the rate or the clock changed: it reaches at most one period ahead. */
export function fitRate(table: Pick<Table, 'settings' | 'rateAt' | 'setRateAt'>, queue: string, now: number): void {
  const { rate } = table.settings(queue);
  const at = table.rateAt(queue);
  if (rate === null || at === 0) return;
  const fitted = clampedRateAt(rate, at, now);
  if (fitted !== at) table.setRateAt(queue, fitted);
}
