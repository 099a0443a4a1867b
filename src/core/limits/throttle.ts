/**
 * Limits on how many jobs run together, beyond a queue's own `maxRunning`: the key of a job, and the throttles it
 * names. A store treats both as throttles: an address, a maximum, and the jobs that hold a slot of it.
 *
 * This module must not read any data field that the queue does not name in `keys`.
 */
import type { Job } from '../job/job.ts';
import { NO_SLOTS } from '../job/job.ts';
import type { QueueSettings } from '../settings/settings.ts';

/** The record kind of the maxima of named throttles; the key is the throttle's name. */
export const THROTTLE_RECORD = 'throttle' as const;

type Limited = Pick<Job, 'queue' | 'data' | 'policy'>;

/** Returns the throttles of which a job needs a slot each, all or none, in the order in which they are checked. */
export function throttlesOf(job: Limited, settings: QueueSettings): readonly string[] {
  const named = job.policy.throttles ?? settings.throttles;
  if (settings.keys === null) return named.length === 0 ? NO_SLOTS : addressesOf(named);
  const key = keyOf(job, settings);
  return key === null ? addressesOf(named) : [keyAddressOf(job.queue, key), ...addressesOf(named)];
}

const addressesOf = (names: readonly string[]): readonly string[] => [...new Set(names.map(namedAddress))];

export const namedAddress = (name: string): string => `t:${name}`;
const keyAddressOf = (queue: string, key: string): string => `k:${queue}:${key}`;

/** Parses an address: a named throttle, or a key of a queue. */
export function readAddress(
  address: string,
): { readonly name: string } | { readonly queue: string; readonly key: string } {
  if (address.startsWith('t:')) return { name: address.slice(2) };
  const end = address.indexOf(':', 2);
  return { queue: address.slice(2, end), key: address.slice(end + 1) };
}

/** Returns the job's own key, otherwise the key in the data fields that the queue names, or null if there is none. */
export function keyOf({ data, policy }: Limited, { keys }: QueueSettings): string | null {
  if (keys === null) return null;
  if (policy.key !== undefined) return policy.key;
  return keys.by.length === 0 ? null : keyIn(data, keys.by);
}

/** Returns the key made of all these fields, or null if a field is missing. */
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

/** Returns the number in a field, or null. */
export function numberIn(data: string, path: string): number | null {
  const value = fieldAt(parsed(data), path);
  return typeof value === 'number' ? value : null;
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

/**
 * Returns the text of one field. Other values than texts, integers and booleans have more than one notation, so they
 * give null.
 */
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

/** Why a waiting job cannot start now. */
export type WaitReason =
  | { readonly by: 'queue'; readonly held: number; readonly max: number }
  | { readonly by: 'rate'; readonly until: number; readonly throttle?: string; readonly key?: string }
  | { readonly by: 'needs'; readonly needs: string }
  | ({ readonly by: 'throttle' } & FullThrottle);

export function waitReasonText(reason: WaitReason): string {
  if (reason.by === 'rate')
    return `${rateText(reason)} allows the next start at ${new Date(reason.until).toISOString()}`;
  if (reason.by === 'needs')
    return `needs ${reason.needs.replaceAll(',', ', ')}, and no registered worker has that capacity`;
  const count = `${reason.held} of ${reason.max} running`;
  if (reason.by === 'queue') return `${count} in its queue`;
  const what = readAddress(reason.address);
  return `${count} for ${'name' in what ? `throttle ${what.name}` : `key ${what.key}`}`;
}

function rateText({ throttle, key = '' }: { readonly throttle?: string; readonly key?: string }): string {
  if (throttle === undefined) return 'the rate limit of its queue';
  return `throttle ${throttle}${key === '' ? '' : ` for key ${key}`}`;
}

/** Returns whether any limit could hold the job back. */
export function isLimited({ policy }: Pick<Job, 'policy'>, settings: QueueSettings): boolean {
  const { maxRunning, keys, rate, throttles, needs } = settings;
  if ((policy.needs ?? needs) !== '') return true;
  return (policy.throttles ?? throttles).length > 0 || maxRunning !== null || keys !== null || rate !== null;
}
