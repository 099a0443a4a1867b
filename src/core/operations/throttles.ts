/**
 * Throttles over a table. A waiting job that finds one of its throttles full is parked under it, out of the way of
 * claims; whoever gives a slot back puts the first one back, in the same step.
 *
 * Invariant: while a throttle has room, a queue has as many jobs for it among the ready ones as there is room, or none
 * parked under it. So whatever leaves the ready ones without taking a slot lets the next one in. One too many among the
 * ready ones costs a look, one too few would be forgotten: where in doubt, one more goes back.
 */
import type { Job } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { takesTurn } from '../lifecycle/lifecycle.ts';
import { rateNextAt } from '../limits/rate.ts';
import type { Brake, FullThrottle } from '../limits/throttle.ts';
import { keyOf, readAddress, throttlesOf } from '../limits/throttle.ts';
import type { Table } from '../ports/table.ts';
import { EVERY_QUEUE } from '../settings/settings.ts';
import { fitRate } from './clock-step.ts';

/** The maximum of a throttle; null where it has none. */
export function maxOf(table: Table, address: string): number | null {
  const what = readAddress(address);
  return 'name' in what ? table.throttleMax(what.name) : (table.settings(what.queue).keys?.limit ?? null);
}

/** The first of these throttles that has no slot left. */
export function fullAmong(table: Table, addresses: readonly string[]): FullThrottle | undefined {
  for (const address of addresses) {
    const max = maxOf(table, address);
    if (max === null) continue;
    const held = table.held(address);
    if (held >= max) return { address, held, max };
  }
  return undefined;
}

/** Which limit keeps a waiting job from being started now. */
export function brakeOn(table: Table, job: Job, now: number): Brake | null {
  const settings = table.settings(job.queue);
  const { maxRunning, rate } = settings;
  const running = maxRunning === null ? 0 : table.running(job.queue);
  if (maxRunning !== null && running >= maxRunning) return { by: 'queue', held: running, max: maxRunning };
  const until = rate === null ? null : rateNextAt(rate, table.rateAt(job.queue), now);
  if (until !== null) return { by: 'rate', until };
  const full = fullAmong(table, throttlesOf(job, settings));
  return full === undefined ? null : { by: 'throttle', ...full };
}

/** What a transition means to throttles: slots that became free, and jobs that leave the ready ones without one. */
export function followThrottles(table: Table, before: Job, after: Job): void {
  if (before.slots.length > 0 && after.slots.length === 0) for (const address of before.slots) freed(table, address);
  if (before.state === 'running' && after.state !== 'running') tellQueue(table, before.queue);
  if (before.state === 'waiting' && after.state !== 'running') passOn(table, before);
}

function freed(table: Table, address: string): void {
  for (const queue of table.parkedQueues(address)) letIn(table, address, queue);
}

/** Workers that found the queue at its limit wait for a word. */
function tellQueue(table: Table, queue: string): void {
  if (table.settings(queue).maxRunning !== null) tellFreed(table, queue);
}

function tellFreed(table: Table, queue: string): void {
  table.emit({ type: 'freed', id: '', queue, state: null });
}

/** A job goes without a slot: who waits behind it may have what it left. Answers whether somebody came back. */
export function passOn(table: Table, job: Job): boolean {
  let cameBack = false;
  for (const address of throttlesOf(job, table.settings(job.queue)))
    cameBack = letIn(table, address, job.queue) || cameBack;
  return cameBack;
}

function letIn(table: Table, address: string, queue: string): boolean {
  if (fullAmong(table, [address]) !== undefined || table.unpark(address, queue, 1) === 0) return false;
  tellFreed(table, queue);
  return true;
}

/** Somebody set the maximum anew: as many go back as there is room. */
export function throttleChanged(table: Table, address: string): void {
  const max = maxOf(table, address);
  const room = max === null ? Number.MAX_SAFE_INTEGER : max - table.held(address);
  if (room <= 0) return;
  for (const queue of table.parkedQueues(address)) if (table.unpark(address, queue, room) > 0) tellFreed(table, queue);
}

type Changed = Table & { queueChanged(queue: string): void };

/** Somebody set a queue's settings, or those of every queue: then each queue has other ones. */
export function settingsChanged(table: Changed, key: string, now: number): void {
  const tell = (queue: string) => table.emit({ type: 'queue', id: '', queue, state: null });
  const change = (queue: string) => {
    table.queueChanged(queue);
    fitRate(table, queue, now);
  };
  if (key !== EVERY_QUEUE) change(key);
  tell(key);
  if (key !== EVERY_QUEUE) return;
  for (const queue of table.queues()) {
    change(queue);
    tell(queue);
  }
}

/**
 * Whoever enters a queue with keys gets a turn: the one after the last of its key, but none that was served already.
 * So keys take turns, however many jobs each of them has.
 */
export function withTurn(table: Table, { job, row }: Transition): Transition {
  if (!takesTurn(row)) return { job, row };
  const settings = table.settings(job.queue);
  if (settings.keys === null) return job.turn === 0 ? { job, row } : { job: { ...job, turn: 0 }, row };
  const key = keyOf(job, settings) ?? '';
  const turn = Math.max(table.turnServed(job.queue), table.lastTurn(job.queue, key)) + 1;
  table.giveTurn(job.queue, key, turn);
  return { job: { ...job, turn }, row };
}
