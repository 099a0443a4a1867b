/**
 * Counts wrong credentials by where they come from. Guessing is hopeless against 256 bits; this keeps the log and the
 * store from being flooded, and never stands in the way of a right one.
 */
import { isIPv6 } from 'node:net';

const WINDOW_MS = 60_000;
export const MOST_WRONG = 20;
const MOST_PLACES = 10_000;

export class WrongTokens {
  readonly #now: () => number;
  readonly #places = new Map<string, { readonly since: number; count: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one more, and answers whether that is too many for now. */
  isTooMany(address: string): boolean {
    const place = networkOf(address);
    const now = this.#now();
    const before = this.#places.get(place);
    const entry = before !== undefined && now - before.since < WINDOW_MS ? before : { since: now, count: 0 };
    entry.count += 1;
    if (entry !== before) this.#keep(place, entry);
    return entry.count > MOST_WRONG;
  }

  /** The one that began longest ago makes room. */
  #keep(place: string, entry: { readonly since: number; count: number }): void {
    this.#places.delete(place);
    if (this.#places.size >= MOST_PLACES) this.#places.delete(this.#places.keys().next().value ?? '');
    this.#places.set(place, entry);
  }
}

/** Whoever has one IPv6 address usually has 2^64 of them: they count as one place. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  if (tail === undefined) return groups.slice(0, 4).join(':');
  const missing = 8 - groups.length - tail.split(':').filter((group) => group !== '').length;
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...tail.split(':')];
  return all.slice(0, 4).join(':');
}
