/**
 * Where this node may call: anywhere on the open network, and of private addresses only what `allowDestinations` names.
 *
 *     "allowDestinations": ["10.1.0.0/16", "backup.internal", "backup.internal:3333", "*.lan", "127.0.0.1:4444"]
 *
 * Pure. A name is judged when it is asked about, the address behind it when a connection is made (guarded-lookup.ts).
 */
import type { BlockList } from 'node:net';
import { isIP, isIPv6 } from 'node:net';
import type { Check, Report } from '../core/input/check.ts';
import { show } from '../core/input/check.ts';
import { described } from '../core/input/json-schema.ts';
import { isPrivateAddress, isWithin, rangesOf } from './private-address.ts';

export interface Destinations {
  /** Whether this host, by its name or as the address it is, may be called although it is private. */
  names(host: string, port: number): boolean;
  /** Whether a connection to this address may be made for a host that `names` does not know. */
  permits(address: string, port: number): boolean;
}

interface Entry {
  /** A name in lower case, or `*.` and what it ends in; null for a range of addresses. */
  readonly host: string | null;
  readonly range: BlockList | null;
  readonly port: number | null;
}

const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

/** One entry of `allowDestinations`. */
export const allowedDestination: Check<string> = described(
  { type: 'string', description: 'a range such as 10.0.0.0/8, an address or a name, with :port if only that one' },
  (value: unknown, report: Report, path: string): string => {
    if (typeof value === 'string' && readEntry(value) !== null) return value;
    report(path, `must be a range such as 10.0.0.0/8, an address or a name, with or without :port, not ${show(value)}`);
    return '';
  },
);

export function destinationsOf(allowed: readonly string[]): Destinations {
  const entries = allowed.map(readEntry).filter((entry) => entry !== null);
  const fits = (entry: Entry, port: number): boolean => entry.port === null || entry.port === port;
  return {
    names: (host, port) =>
      entries.some((entry) => entry.host !== null && fits(entry, port) && isNamed(plainHost(host), entry.host)),
    permits: (address, port) =>
      !isPrivateAddress(address) ||
      entries.some((entry) => entry.range !== null && fits(entry, port) && isWithin(entry.range, address)),
  };
}

function readEntry(text: string): Entry | null {
  const [, bare = text, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) > 65_535) return null;
  const at = port === undefined ? null : Number(port);
  const plain = plainHost(bare);
  const [address = '', bits] = plain.split('/');
  if (isIP(address) !== 0) return rangeEntry(address, bits, at);
  return bits === undefined && NAME.test(plain) ? { host: plain, range: null, port: at } : null;
}

function rangeEntry(address: string, bits: string | undefined, port: number | null): Entry | null {
  const most = isIPv6(address) ? 128 : 32;
  const length = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(length <= most)) return null;
  return { host: null, range: rangesOf([`${address}/${length}`]), port };
}

/** `localhost.` and `LOCALHOST` are the same name. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function isNamed(host: string, entry: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry;
}
