/**
 * What the store's clock must not take with it when it steps back: times that were computed while it was ahead are
 * counted from the new now.
 *
 * Jobs are looked at by insertion, a bounded number in each call that may write, until all were seen. All of them count from
 * the time of the step, so their order does not depend on the call that reached them.
 */
import type { Reading } from '../lifecycle/clock.ts';
import { rebased, restartedLease } from '../lifecycle/lifecycle.ts';
import { rateFitted } from '../limits/rate.ts';
import type { Table } from '../ports/table.ts';

/** How many jobs one call looks at, whatever state they are in. */
export const MAX_REBASED = 1_000;

/** Before each call that may write. */
export function followClock(table: Table, { now, hasSteppedBack }: Reading): void {
  if (hasSteppedBack) stepBack(table, now);
  if (table.clockStep() !== null && table.closed() === null) rebaseSome(table, now);
}

function stepBack(table: Table, now: number): void {
  for (const job of table.allRunning()) table.replace(job, rebased(restartedLease(job, now), { from: now, now }), null);
  for (const queue of table.queues()) fitRate(table, queue, now);
  table.setClockStep({ from: now, afterSeq: 0 });
}

/** Time alone brings nothing: no history row, no event. The claim that follows finds what is due. */
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

/** The queue's rate or the clock is another: the memory of starts reaches no further than one period of the rate. */
export function fitRate(table: Pick<Table, 'settings' | 'rateAt' | 'setRateAt'>, queue: string, now: number): void {
  const { rate } = table.settings(queue);
  const at = table.rateAt(queue);
  if (rate === null || at === 0) return;
  const fitted = rateFitted(rate, at, now);
  if (fitted !== at) table.setRateAt(queue, fitted);
}
