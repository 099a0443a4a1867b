/**
 * Counts invalid credentials per network. Guessing 256 bits is hopeless; the limit protects the log and the store from
 * floods, and never blocks a valid credential.
 */
import { isIPv6 } from 'node:net';

const WINDOW_MS = 60_000;
export const MAX_WRONG = 20;
const MAX_NETWORKS = 10_000;

export class WrongTokens {
  readonly #now: () => number;
  readonly #networks = new Map<string, { readonly since: number; count: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Counts one invalid credential and returns whether the network exceeds its limit. */
  isTooMany(address: string): boolean {
    const network = networkOf(address);
    const now = this.#now();
    const before = this.#networks.get(network);
    const entry = before !== undefined && now - before.since < WINDOW_MS ? before : { since: now, count: 0 };
    entry.count += 1;
    if (entry !== before) this.#add(network, entry);
    return entry.count > MAX_WRONG;
  }

  /** Adds an entry and evicts the oldest one. */
  #add(network: string, entry: { readonly since: number; count: number }): void {
    this.#networks.delete(network);
    if (this.#networks.size >= MAX_NETWORKS) this.#networks.delete(this.#networks.keys().next().value ?? '');
    this.#networks.set(network, entry);
  }
}

/** A host with one IPv6 address usually has a /64 network: its addresses count as one. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':');
  if (tail === undefined) return groups.slice(0, 4).join(':');
  const missing = 8 - groups.length - tail.split(':').filter((group) => group !== '').length;
  const all = [...groups, ...Array.from({ length: missing }, () => '0'), ...tail.split(':')];
  return all.slice(0, 4).join(':');
}
