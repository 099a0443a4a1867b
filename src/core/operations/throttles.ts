/**
 * Throttles over a table. A waiting job whose throttle is full is parked under it, hidden from claims. A job that
 * returns a slot unparks the first one, in the same step.
 *
 * Invariant: while a throttle has room, a queue has as many ready jobs for it as there is room, or none parked under
 * it. So a job that leaves the ready ones without taking a slot unparks the next one. One ready job too many costs one
 * check, one too few would never start: in doubt, one more is unparked.
 */
import type { Job } from '../job/job.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { takesTurn } from '../lifecycle/lifecycle.ts';
import { rateNextAt } from '../limits/rate.ts';
import type { FullThrottle, WaitReason } from '../limits/throttle.ts';
import { keyOf, namedAddress, readAddress, throttlesOf } from '../limits/throttle.ts';
import type { Table } from '../ports/table.ts';
import { GLOBAL_SETTINGS_KEY } from '../settings/settings.ts';
import { fitRate } from './clock-step.ts';
import { bucketsChanged, bucketsOf, closedAmong } from './limits/buckets.ts';

/** Returns the maximum of a throttle, or null if it has none. */
export function maxOf(table: Table, address: string): number | null {
  const what = readAddress(address);
  return 'name' in what ? table.throttle(what.name).max : (table.settings(what.queue).keys?.limit ?? null);
}

/** Returns the first of these throttles that has no slot left. */
export function fullAmong(table: Table, addresses: readonly string[]): FullThrottle | undefined {
  for (const address of addresses) {
    const max = maxOf(table, address);
    if (max === null) continue;
    const held = table.held(address);
    if (held >= max) return { address, held, max };
  }
  return undefined;
}

/** Returns the limit that keeps a waiting job from starting now, or null. */
export function limitReason(table: Table, job: Job, now: number): WaitReason | null {
  const settings = table.settings(job.queue);
  const { maxRunning, rate } = settings;
  const running = maxRunning === null ? 0 : table.running(job.queue);
  if (maxRunning !== null && running >= maxRunning) return { by: 'queue', held: running, max: maxRunning };
  const until = rate === null ? null : rateNextAt(rate, table.rateAt(job.queue), { now, cost: 1 });
  if (until !== null) return { by: 'rate', until };
  const slots = throttlesOf(job, settings);
  const full = fullAmong(table, slots);
  if (full !== undefined) return { by: 'throttle', ...full };
  const closed = closedAmong(table, bucketsOf(table, job, slots), now);
  if (closed === undefined) return null;
  const { name, key } = closed.bucket;
  return { by: 'rate', until: closed.until, throttle: name, ...(key !== '' && { key }) };
}

/** Applies a transition to throttles: slots that became free, and jobs that leave the ready ones without a slot. */
export function followThrottles(table: Table, before: Job, after: Job): void {
  if (before.slots.length > 0 && after.slots.length === 0)
    for (const address of before.slots) slotFreed(table, address);
  if (before.state === 'running' && after.state !== 'running') emitQueueFreed(table, before.queue);
  if (before.state === 'waiting' && after.state !== 'running') unparkBehind(table, before);
}

function slotFreed(table: Table, address: string): void {
  for (const queue of table.parkedQueues(address)) unparkNext(table, address, queue);
}

/** Emits `freed` for workers that found the queue at its limit. */
function emitQueueFreed(table: Table, queue: string): void {
  if (table.settings(queue).maxRunning !== null) emitFreed(table, queue);
}

function emitFreed(table: Table, queue: string): void {
  table.emit({ type: 'freed', id: '', queue, state: null });
}

/** Unparks the jobs behind a job that leaves without a slot. Returns whether any was unparked. */
export function unparkBehind(table: Table, job: Job): boolean {
  let hasUnparked = false;
  for (const address of throttlesOf(job, table.settings(job.queue)))
    hasUnparked = unparkNext(table, address, job.queue) || hasUnparked;
  return hasUnparked;
}

function unparkNext(table: Table, address: string, queue: string): boolean {
  if (fullAmong(table, [address]) !== undefined || table.unpark(address, queue, 1) === 0) return false;
  emitFreed(table, queue);
  return true;
}

/** Applies new settings of a throttle: as many jobs are unparked as there is room, and its buckets are full and open. */
export function throttleChanged(table: Table, name: string, now: number): void {
  const address = namedAddress(name);
  for (const queue of bucketsChanged(table, name, now)) emitFreed(table, queue);
  const max = maxOf(table, address);
  const room = max === null ? Number.MAX_SAFE_INTEGER : max - table.held(address);
  if (room <= 0) return;
  for (const queue of table.parkedQueues(address)) if (table.unpark(address, queue, room) > 0) emitFreed(table, queue);
}

type ChangedTable = Table & { queueChanged(queue: string): void };

/** Applies new settings of a queue. Global settings change every queue. */
export function settingsChanged(table: ChangedTable, key: string, now: number): void {
  const emitSettings = (queue: string) => table.emit({ type: 'queue', id: '', queue, state: null });
  const change = (queue: string) => {
    table.queueChanged(queue);
    fitRate(table, queue, now);
  };
  if (key !== GLOBAL_SETTINGS_KEY) change(key);
  emitSettings(key);
  if (key !== GLOBAL_SETTINGS_KEY) return;
  for (const queue of table.queues()) {
    change(queue);
    emitSettings(queue);
  }
}

/**
 * Gives a job that enters a queue with keys a turn: the one after the last turn of its key, but none that was served.
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
