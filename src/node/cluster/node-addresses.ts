/**
 * Addresses of nodes: which ones a node publishes, and which may be called.
 *
 * Invariant: an address is called only if its entry has a valid proof of its node. A link-local address is never
 * called; a loopback address is called only by a node of the same boot of the same machine.
 */
import { networkInterfaces } from 'node:os';
import type { Destinations } from '../../outbound/destinations.ts';
import { isPrivateAddress, isWithin, rangesOf } from '../../outbound/private-address.ts';
import type { ProvenEntry } from './node-entry.ts';
import type { NodeSecret } from './node-secret.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const LOOPBACK = rangesOf(['127.0.0.0/8', '::1/128']);
/** Cloud metadata, addresses without a host, and multicast. */
const NEVER = rangesOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'ff00::/8',
]);

/** `url` comes first, if set. */
export function addressesOf(url: string | null, listens: readonly ListenAddress[]): readonly string[] {
  const all = listens.flatMap(({ host, port }) =>
    (ANY.has(host) ? ownAddresses() : [host]).map((each) => at(each, port)),
  );
  return [...new Set([...(url === null ? [] : [url]), ...all])];
}

function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.map(({ address }) => address).filter((address) => !isWithin(NEVER, address));
}

const at = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}/`;

/** The fields of an entry that its proof covers. */
const provenFields = ({ id, epoch, machine, addresses }: Omit<ProvenEntry, 'proof'>): readonly string[] => [
  'entry',
  id,
  epoch,
  machine,
  ...addresses,
];

export const proveEntry = (secret: NodeSecret, entry: Omit<ProvenEntry, 'proof'>): string =>
  secret.prove(provenFields(entry));

export const isProvenEntry = (secret: NodeSecret, entry: ProvenEntry): boolean =>
  typeof entry.proof === 'string' &&
  Array.isArray(entry.addresses) &&
  secret.isProven(entry.proof, provenFields(entry));

/** Returns the addresses that can be called from here. */
export function callable({ addresses, machine }: ProvenEntry, here: string): readonly URL[] {
  const urls = addresses.filter((each) => URL.canParse(each)).map((each) => new URL(each));
  return urls.filter(({ protocol, hostname, username }) => {
    const isHttp = protocol === 'http:' || protocol === 'https:';
    return isHttp && username === '' && (machine === here || !isLoopbackName(hostname));
  });
}

const isLoopbackName = (host: string): boolean =>
  host === 'localhost' || (/^[[\d]/.test(host) && isWithin(LOOPBACK, host));

/** Checks each connection by the resolved address. `ofThisMachine`: whether the entry names this machine. */
export function nodeDestinations(ofThisMachine: boolean): Destinations {
  return {
    names: () => false,
    permits: (address) =>
      !isPrivateAddress(address) || (!isWithin(NEVER, address) && (ofThisMachine || !isWithin(LOOPBACK, address))),
  };
}
