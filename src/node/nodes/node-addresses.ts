/**
 * Where a node can be called by others: what it tells of itself, and which of that may be called.
 *
 * Invariant: an address is called only on the word of an entry that its node has proven. A link-local address is never
 * called, whoever names it; one of the loopback only by a node of the same boot of the same machine.
 */
import { networkInterfaces } from 'node:os';
import { isWithin, rangesOf } from '../../outbound/private-address.ts';
import type { ProvenEntry } from './node-entry.ts';
import type { NodeSecret } from './node-secret.ts';

export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const ANY: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
/** Where clouds keep their secrets, what is no host at all, and what is many. */
const NEVER = rangesOf([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/128',
  'fe80::/10',
  'ff00::/8',
]);

/** `url` first, where somebody has set it. */
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

/** What is proven of an entry: who it is, and where it says it can be called. */
const wordsOf = ({ id, epoch, machine, addresses }: Omit<ProvenEntry, 'proof'>): readonly string[] => [
  'entry',
  id,
  epoch,
  machine,
  ...addresses,
];

export const proveEntry = (secret: NodeSecret, entry: Omit<ProvenEntry, 'proof'>): string =>
  secret.prove(wordsOf(entry));

export const isProvenEntry = (secret: NodeSecret, entry: ProvenEntry): boolean =>
  typeof entry.proof === 'string' && Array.isArray(entry.addresses) && secret.isProven(entry.proof, wordsOf(entry));
