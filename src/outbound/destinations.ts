/**
 * Where this node may connect to: any public address, and private addresses only if `allowDestinations` lists them.
 *
 *     "allowDestinations": ["10.1.0.0/16", "backup.internal", "backup.internal:3333", "*.lan", "127.0.0.1:4444"]
 *
 * Pure. Host names are checked against the list here; the addresses behind them at connect time (guarded-lookup.ts).
 */
import type { BlockList } from 'node:net';
import { isIP, isIPv6 } from 'node:net';
import type { Check, Report } from '../core/input/check.ts';
import { show } from '../core/input/check.ts';
import { described } from '../core/input/json-schema.ts';
import { isPrivateAddress, isWithin, rangesOf } from './private-address.ts';

export interface Destinations {
  /** Returns whether an entry lists this host by name; such a host may have a private address. */
  names(host: string, port: number): boolean;
  /** Returns whether this address is public or in a listed range. Used for hosts that no entry lists by name. */
  permits(address: string, port: number): boolean;
}

interface Entry {
  /** A name in lower case, or `*.` and a suffix; null for an address range. */
  readonly host: string | null;
  readonly range: BlockList | null;
  readonly port: number | null;
}

const NAME = /^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/;

/** One entry of `allowDestinations`. */
export const allowedDestination: Check<string> = described(
  { type: 'string', description: 'a range such as 10.0.0.0/8, an address or a name; with :port, only that port' },
  (value: unknown, report: Report, path: string): string => {
    if (typeof value === 'string' && readEntry(value) !== null) return value;
    report(path, `must be a range such as 10.0.0.0/8, an address or a name, with or without :port, not ${show(value)}`);
    return '';
  },
);

export function destinationsOf(allowed: readonly string[]): Destinations {
  const entries = allowed.map(readEntry).filter((entry) => entry !== null);
  const hasPort = (entry: Entry, port: number): boolean => entry.port === null || entry.port === port;
  return {
    names: (host, port) =>
      entries.some((entry) => entry.host !== null && hasPort(entry, port) && matchesName(plainHost(host), entry.host)),
    permits: (address, port) =>
      !isPrivateAddress(address) ||
      entries.some((entry) => entry.range !== null && hasPort(entry, port) && isWithin(entry.range, address)),
  };
}

function readEntry(text: string): Entry | null {
  const [, bare = text, port] = /^(\[[^\]]*\]|[^:]*):(\d{1,5})$/.exec(text) ?? [];
  if (port !== undefined && Number(port) > 65_535) return null;
  const portNumber = port === undefined ? null : Number(port);
  const plain = plainHost(bare);
  const [address = '', bits] = plain.split('/');
  if (isIP(address) !== 0) return rangeEntry(address, bits, portNumber);
  return bits === undefined && NAME.test(plain) ? { host: plain, range: null, port: portNumber } : null;
}

function rangeEntry(address: string, bits: string | undefined, port: number | null): Entry | null {
  const maxLength = isIPv6(address) ? 128 : 32;
  const length = bits === undefined ? maxLength : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(length <= maxLength)) return null;
  return { host: null, range: rangesOf([`${address}/${length}`]), port };
}

/** Normalises a host: `localhost.` and `LOCALHOST` are the same name, and brackets around IPv6 are removed. */
function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function matchesName(host: string, entry: string): boolean {
  return entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry;
}
