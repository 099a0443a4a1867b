/**
 * The part of `node.json` that says where this node may call, with which tokens, and how fast:
 *
 *     "allowDestinations": ["10.0.0.0/8", "backup.lan:3333"],
 *     "destinations": { "http://backup.lan:3333/": { "token": "lh_…", "bandwidth": "5 MB" } },
 *     "relay": { "bandwidth": "20 MB", "maxHops": 8 },
 *     "hooks": { "secrets": { "default": "whsec_…", "billing": ["whsec_new…", "whsec_old…"] }, "timeout": "15s" }
 *
 * Invariant: a token or a secret is read from here when a call is made, and stands nowhere else: in no job, log or record.
 */
import type { Check, Checked, Report } from '../core/input/check.ts';
import { duration, integer, listOf, mapOf, object, oneOf, size, text } from '../core/input/check.ts';
import { described, schemaOf } from '../core/input/json-schema.ts';
import { SECRET_NAME } from '../core/webhooks/webhook.ts';
import { allowedDestination } from '../outbound/destinations.ts';
import { secretProblem } from './webhooks/sign-webhook.ts';

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
  readonly hooks: HookSettings;
}

export interface HookSettings {
  /** By name; each signs every call, so that one can take the place of another. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  readonly timeoutMs: number;
}

const MOST_HOPS = 100;
const MAX_HOPS = 16;
const TIMEOUT_MS = 30_000;
const HOOK_TIMEOUT_MS = 15_000;
/** Of one name: the one that is, those that were, the one to come. */
const MOST_SECRETS = 5;
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

const secret: Check<string> = described(
  { type: 'string', description: 'whsec_ and 24 to 64 bytes in base64' },
  (value: unknown, report: Report, path: string): string => {
    const problem = typeof value === 'string' ? secretProblem(value) : 'must be a text';
    if (problem !== null) report(path, problem);
    return String(value);
  },
);
const someSecrets = listOf(secret, MOST_SECRETS);
const oneOrSome: Check<readonly string[]> = described(
  { anyOf: [schemaOf(secret), schemaOf(someSecrets)] },
  (value: unknown, report: Report, path: string) =>
    Array.isArray(value) ? someSecrets(value, report, path) : [secret(value, report, path)],
);
const byName = mapOf(oneOrSome, 1_000);
const secrets: typeof byName = described(schemaOf(byName), (value: unknown, report: Report, path: string) => {
  const given = byName(value, report, path);
  for (const [name, some] of Object.entries(given ?? {})) {
    if (!SECRET_NAME.test(name)) report(`${path}.${name}`, 'is no name: letters, digits, _ . and -');
    if (some?.length === 0) report(`${path}.${name}`, 'must have at least one secret');
  }
  return given;
});

export const OUTBOUND_SHAPE = {
  allowDestinations: listOf(allowedDestination, 1_000),
  destinations,
  relay: object({ bandwidth, maxHops: integer(1, MOST_HOPS), timeout: duration(100) }),
  hooks: object({ secrets, timeout: duration(100) }),
};

export function outboundSettings(given: Checked<typeof OUTBOUND_SHAPE>): OutboundSettings {
  const { allowDestinations: allow = [], destinations: peers = {}, relay = {}, hooks = {} } = given;
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
    hooks: { secrets: new Map(Object.entries(hooks.secrets ?? {})), timeoutMs: hooks.timeout ?? HOOK_TIMEOUT_MS },
  };
}

/** Addresses that mean the same are written the same. */
export function baseOf(address: string): string {
  const { href } = new URL(address);
  return href.endsWith('/') ? href : `${href}/`;
}
