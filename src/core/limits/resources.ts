/**
 * Resources that a job needs of the worker that runs it, and the capacity of a worker, in units of any name.
 *
 * Both are texts, `cpu=2,gpu=1`: sorted by name, no name twice, no zeros. Equal needs are therefore equal texts, and
 * jobs that fit no worker now are parked together. A worker has no capacity of a unit that it does not offer.
 */

import { byText } from '../input/text-order.ts';
import type { Job } from '../job/job.ts';
import type { QueueSettings } from '../settings/settings.ts';

/** The capacity of a worker: in total, and what is free now. */
export interface WorkerCapacity {
  readonly whole: string;
  readonly free: string;
}

/** Amounts by resource name. */
export type Resources = Readonly<Record<string, number>>;

/**
 * How long a worker may start smaller jobs before a larger job that it could run. After that the worker starts no job
 * of the queue until the larger job fits.
 */
export const PATIENCE_MS = 60_000;
/** How many different needs of a queue one claim checks. If there are more, the set rotates every second. */
export const MAX_NEEDS = 250;
/** How long claims check the same set of needs. */
export const NEEDS_ROTATION_MS = 1_000;

export function needsOf({ policy }: Pick<Job, 'policy'>, settings: QueueSettings): string {
  return policy.needs ?? settings.needs;
}

export function needsText(units: Resources): string {
  const named = Object.entries(units).filter(([, count]) => count > 0);
  return named
    .sort(([a], [b]) => byText(a, b))
    .map(([unit, count]) => `${unit}=${count}`)
    .join(',');
}

export function readResources(text: string): Resources {
  const pairs = text === '' ? [] : text.split(',').map((pair) => pair.split('='));
  return Object.fromEntries(pairs.map(([unit = '', count = '0']) => [unit, Number(count)]));
}

export function fits(needs: string, room: Resources): boolean {
  return Object.entries(readResources(needs)).every(([unit, count]) => count <= (room[unit] ?? 0));
}

export function without(room: Resources, needs: string): Resources {
  const used = readResources(needs);
  return Object.fromEntries(Object.entries(room).map(([unit, count]) => [unit, count - (used[unit] ?? 0)]));
}

/** The address under which jobs that fit no worker now are parked, beside those that wait for a throttle. */
export const needAddress = (queue: string, needs: string): string => `n:${queue}:${needs}`;

export function needsAt(address: string): string {
  return address.slice(address.indexOf(':', 2) + 1);
}

/** Returns the number of the present rotation, which grows with time. */
export const needsRotation = (now: number): number => Math.floor(now / NEEDS_ROTATION_MS);

/** Returns the total capacity in a worker's info. */
export function capacityIn(info: string): Resources {
  const { offers } = JSON.parse(info) as { readonly offers?: unknown };
  return typeof offers === 'string' ? readResources(offers) : {};
}
