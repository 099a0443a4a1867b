/**
 * Resource slots: what a job needs of the worker that runs it, and what a worker offers, in units with any name.
 *
 * Both are texts, `cpu=2,gpu=1`: by name, none twice, no zeros. So equal needs are equal texts, and jobs that fit nowhere
 * now can stand together. A unit that a worker does not offer is one it has none of.
 */

import { byText } from '../input/text-order.ts';
import type { Job } from '../job/job.ts';
import type { QueueSettings } from '../settings/settings.ts';

/** What a worker has in all, and what of it is free. */
export interface Offer {
  readonly whole: string;
  readonly free: string;
}

/** Resources by name. */
export type Resources = Readonly<Record<string, number>>;

/**
 * How long jobs that need less may be started before one that needs more, by a worker that could do it. After that the
 * worker starts none of its queue until it has room for it.
 */
export const PATIENCE_MS = 60_000;
/** Of the different needs in a queue, so many are looked at by a claim; where there are more, others in every second. */
export const MOST_NEEDS = 250;
/** For so long claims look at the same ones. */
export const LOOK_MS = 1_000;

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

/** Where jobs of a queue stand that fit nowhere now, beside those that wait for a slot of a throttle. */
export const needAddress = (queue: string, needs: string): string => `n:${queue}:${needs}`;

export function needsAt(address: string): string {
  return address.slice(address.indexOf(':', 2) + 1);
}

/** Which look it is, in a count that goes on with time. */
export const lookAt = (now: number): number => Math.floor(now / LOOK_MS);

/** What a worker offers in all, by what is shown of it. */
export function offeredBy(info: string): Resources {
  const { offers } = JSON.parse(info) as { readonly offers?: unknown };
  return typeof offers === 'string' ? readResources(offers) : {};
}
