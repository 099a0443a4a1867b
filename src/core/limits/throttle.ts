/**
 * What limits how many jobs run together, beyond a queue's own `maxRunning`: the key of a job, and the throttles it
 * names. Both are throttles to a store: an address, a maximum, and the jobs that hold a slot of it.
 *
 * Must never look into data for anything but the fields that the queue names in `keys`.
 */
import type { Job } from '../job/job.ts';
import { NO_SLOTS } from '../job/job.ts';
import type { QueueSettings } from '../settings/settings.ts';

/** The kind under which the maxima of named throttles stand among the records; the key is the throttle's name. */
export const THROTTLE_RECORD = 'throttle' as const;

type Limited = Pick<Job, 'queue' | 'data' | 'policy'>;

/** The throttles of which a job needs a slot each, all or none; in the order in which they are asked. */
export function throttlesOf(job: Limited, settings: QueueSettings): readonly string[] {
  const named = job.policy.throttles ?? settings.throttles;
  if (settings.keys === null) return named.length === 0 ? NO_SLOTS : addressesOf(named);
  const key = keyOf(job, settings);
  return key === null ? addressesOf(named) : [keyAddressOf(job.queue, key), ...addressesOf(named)];
}

const addressesOf = (names: readonly string[]): readonly string[] => [...new Set(names.map(namedAddress))];

export const namedAddress = (name: string): string => `t:${name}`;
const keyAddressOf = (queue: string, key: string): string => `k:${queue}:${key}`;

/** What an address stands for: a named throttle, or a key of a queue. */
export function readAddress(
  address: string,
): { readonly name: string } | { readonly queue: string; readonly key: string } {
  if (address.startsWith('t:')) return { name: address.slice(2) };
  const end = address.indexOf(':', 2);
  return { queue: address.slice(2, end), key: address.slice(end + 1) };
}

/** The key a job was given, else the one its data has in the fields that the queue names; null where there is none. */
export function keyOf({ data, policy }: Limited, { keys }: QueueSettings): string | null {
  if (keys === null) return null;
  if (policy.key !== undefined) return policy.key;
  return keys.by.length === 0 ? null : keyIn(data, keys.by);
}

/** A key needs all of the fields. */
export function keyIn(data: string, paths: readonly string[]): string | null {
  const parts: string[] = [];
  const whole = parsed(data);
  for (const path of paths) {
    const part = keyPart(fieldAt(whole, path));
    if (part === null) return null;
    parts.push(part);
  }
  return parts.join('|');
}

function parsed(data: string): unknown {
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return undefined;
  }
}

function fieldAt(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split('.')) {
    const isThere = typeof at === 'object' && at !== null && !Array.isArray(at) && Object.hasOwn(at, name);
    if (!isThere) return undefined;
    at = (at as Readonly<Record<string, unknown>>)[name];
  }
  return at;
}

const LARGEST = 1e15;

/** Texts, whole numbers, true and false make keys. Other values are written in more than one way, so they make none. */
function keyPart(value: unknown): string | null {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < LARGEST ? String(value + 0) : null;
  if (typeof value !== 'string' || /[\u0000-\u001f]/.test(value)) return null;
  return value.replaceAll(/[\\|]/g, '\\$&');
}

/** A throttle that has no slot left. */
export interface FullThrottle {
  readonly address: string;
  readonly held: number;
  readonly max: number;
}

/** What keeps a waiting job from being started now. */
export type Brake =
  | { readonly by: 'queue'; readonly held: number; readonly max: number }
  | { readonly by: 'rate'; readonly until: number }
  | { readonly by: 'needs'; readonly needs: string }
  | ({ readonly by: 'throttle' } & FullThrottle);

export function brakeWords(brake: Brake): string {
  if (brake.by === 'rate')
    return `the rate of its queue lets the next one start at ${new Date(brake.until).toISOString()}`;
  if (brake.by === 'needs') return `needs ${brake.needs.replaceAll(',', ', ')}, and no worker there is offers as much`;
  const count = `${brake.held} of ${brake.max} running`;
  if (brake.by === 'queue') return `${count} in its queue`;
  const what = readAddress(brake.address);
  return `${count} for ${'name' in what ? `throttle ${what.name}` : `key ${what.key}`}`;
}

/** Whether there is any limit that might hold a job back. */
export function isLimited({ policy }: Pick<Job, 'policy'>, settings: QueueSettings): boolean {
  const { maxRunning, keys, rate, throttles, needs } = settings;
  if ((policy.needs ?? needs) !== '') return true;
  return (policy.throttles ?? throttles).length > 0 || maxRunning !== null || keys !== null || rate !== null;
}
