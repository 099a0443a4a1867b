/**
 * The part of `node.json` that says where this node may call, with which tokens, and how fast:
 *
 *     "allowDestinations": ["10.0.0.0/8", "backup.lan:3333"],
 *     "destinations": { "http://backup.lan:3333/": { "token": "lh_…", "bandwidth": "5 MB" } },
 *     "relay": { "bandwidth": "20 MB", "maxHops": 8 }
 *
 * Invariant: a token is read from here when a call is made, and stands nowhere else: in no job, log or record.
 */
import type { Check, Checked, Report } from '../core/check.ts';
import { duration, integer, listOf, mapOf, object, oneOf, size, text } from '../core/check.ts';
import { described, schemaOf } from '../core/json-schema.ts';
import { allowedDestination } from '../outbound/destinations.ts';

export type PeerKind = 'longhaul' | 'rq';

export interface DestinationSettings {
  readonly token: string | null;
  /** Bytes a second; null: no limit of its own. */
  readonly bandwidth: number | null;
  /** Null: it is asked what it is. */
  readonly protocol: PeerKind | null;
}

export interface OutboundSettings {
  readonly allow: readonly string[];
  /** By base address, with a slash at its end. */
  readonly destinations: ReadonlyMap<string, DestinationSettings>;
  /** Of all relays together. */
  readonly bandwidth: number | null;
  readonly maxHops: number;
  /** How long a relay waits for each step of a call. */
  readonly timeoutMs: number;
}

const MOST_HOPS = 100;
const MAX_HOPS = 16;
const TIMEOUT_MS = 30_000;
/** Slower than this, the other side would take the silence for an end. */
const LEAST_BANDWIDTH = 4 * 1024;

const bandwidth: Check<number> = described(schemaOf(size), (value: unknown, report: Report, path: string) => {
  const bytes = size(value, report, path);
  if (bytes < LEAST_BANDWIDTH) report(path, `must be at least ${LEAST_BANDWIDTH} bytes a second`);
  return bytes;
});

/** It becomes a header: nothing in it may end one. */
const token = text({ max: 1_024, pattern: /^[\x21-\x7e]+$/, must: 'must be a token, without spaces' });
const destination = object({ token, bandwidth, protocol: oneOf('longhaul', 'rq') });
const byAddress = mapOf(destination, 1_000);
const destinations: typeof byAddress = described(
  schemaOf(byAddress),
  (value: unknown, report: Report, path: string) => {
    const given = byAddress(value, report, path);
    for (const address of Object.keys(given ?? {})) {
      const isRight = URL.canParse(address) && /^https?:\/\/[^\s@?#]+$/.test(address);
      if (!isRight) report(`${path}.${address}`, 'must be the address of a node, such as http://host:3333/');
    }
    return given;
  },
);

export const OUTBOUND_SHAPE = {
  allowDestinations: listOf(allowedDestination, 1_000),
  destinations,
  relay: object({ bandwidth, maxHops: integer(1, MOST_HOPS), timeout: duration(100) }),
};

export function outboundSettings(given: Checked<typeof OUTBOUND_SHAPE>): OutboundSettings {
  const { allowDestinations: allow = [], destinations: peers = {}, relay = {} } = given;
  const entries = Object.entries(peers).map(
    ([address, { token = null, bandwidth = null, protocol = null }]) =>
      [baseOf(address), { token, bandwidth, protocol }] as const,
  );
  return {
    allow,
    destinations: new Map(entries),
    bandwidth: relay.bandwidth ?? null,
    maxHops: relay.maxHops ?? MAX_HOPS,
    timeoutMs: relay.timeout ?? TIMEOUT_MS,
  };
}

/** Addresses that mean the same are written the same. */
export function baseOf(address: string): string {
  const { href } = new URL(address);
  return href.endsWith('/') ? href : `${href}/`;
}
