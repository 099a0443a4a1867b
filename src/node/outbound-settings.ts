/**
 * The part of `node.json` about outgoing calls: allowed destinations, tokens and bandwidth.
 *
 *     "allowDestinations": ["10.0.0.0/8", "backup.lan:3333"],
 *     "destinations": { "http://backup.lan:3333/": { "token": "lh_…", "bandwidth": "5 MB" } },
 *     "relay": { "bandwidth": "20 MB", "maxHops": 8 },
 *     "hooks": { "secrets": { "default": "whsec_…", "billing": ["whsec_new…", "whsec_old…"] }, "timeout": "15s" }
 *
 * Invariant: a token or secret is read from here when a call is made, and is never copied to a job, log or record.
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
  /** Bytes per second; null: no limit of its own. */
  readonly bandwidth: number | null;
  /** Null: detected with a request. */
  readonly protocol: PeerKind | null;
}

export interface OutboundSettings {
  readonly allow: readonly string[];
  /** By base URL, with a trailing slash. */
  readonly destinations: ReadonlyMap<string, DestinationSettings>;
  /** Shared by all relays, in bytes per second. */
  readonly bandwidth: number | null;
  readonly maxHops: number;
  /** Timeout of each step of a relay call. */
  readonly timeoutMs: number;
  readonly hooks: WebhookSettings;
}

export interface WebhookSettings {
  /** By name. Every secret of a name signs each call, so that secrets can be rotated. */
  readonly secrets: ReadonlyMap<string, readonly string[]>;
  readonly timeoutMs: number;
}

const LARGEST_MAX_HOPS = 100;
const MAX_HOPS = 16;
const TIMEOUT_MS = 30_000;
const WEBHOOK_TIMEOUT_MS = 15_000;
/** Secrets of one name: current, previous and next. */
const MAX_SECRETS = 5;
/** Below this, the receiver would take the silence for a closed connection. */
const MIN_BANDWIDTH = 4 * 1024;

const bandwidth: Check<number> = described(schemaOf(size), (value: unknown, report: Report, path: string) => {
  const bytes = size(value, report, path);
  if (bytes < MIN_BANDWIDTH) report(path, `must be at least ${MIN_BANDWIDTH} bytes a second`);
  return bytes;
});

/** Becomes a header value, so it must not contain a character that ends one. */
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
    const problem = typeof value === 'string' ? secretProblem(value) : 'must be a string';
    if (problem !== null) report(path, problem);
    return String(value);
  },
);
const someSecrets = listOf(secret, MAX_SECRETS);
const oneOrSome: Check<readonly string[]> = described(
  { anyOf: [schemaOf(secret), schemaOf(someSecrets)] },
  (value: unknown, report: Report, path: string) =>
    Array.isArray(value) ? someSecrets(value, report, path) : [secret(value, report, path)],
);
const byName = mapOf(oneOrSome, 1_000);
const secrets: typeof byName = described(schemaOf(byName), (value: unknown, report: Report, path: string) => {
  const given = byName(value, report, path);
  for (const [name, some] of Object.entries(given ?? {})) {
    if (!SECRET_NAME.test(name)) report(`${path}.${name}`, 'is not a valid name: use letters, digits, _ . and -');
    if (some?.length === 0) report(`${path}.${name}`, 'must have at least one secret');
  }
  return given;
});

export const OUTBOUND_SHAPE = {
  allowDestinations: listOf(allowedDestination, 1_000),
  destinations,
  relay: object({ bandwidth, maxHops: integer(1, LARGEST_MAX_HOPS), timeout: duration(100) }),
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
    hooks: { secrets: new Map(Object.entries(hooks.secrets ?? {})), timeoutMs: hooks.timeout ?? WEBHOOK_TIMEOUT_MS },
  };
}

/** Normalizes a base URL. */
export function baseOf(address: string): string {
  const { href } = new URL(address);
  return href.endsWith('/') ? href : `${href}/`;
}
