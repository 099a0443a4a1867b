/** An address to call, as far as it can be judged by sight: what kind it is, and whether it names a private place outright. */
import { isIP } from 'node:net';
import type { Destinations } from './destinations.ts';

export type AddressProblem = { readonly code: 'bad-address' | 'not-allowed'; readonly message: string };

/** The address, or why it will never be called. Every way to write an IPv4 address is the same one here (WHATWG). */
export function readAddress(text: string): URL | AddressProblem {
  if (!URL.canParse(text)) return bad(`${shown(text)} is no address such as http://host:3333/q/queue`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return bad(`${shown(text)} is neither http nor https`);
  if (url.username !== '' || url.password !== '')
    return bad('an address must hold no user and no password; a token belongs into node.json');
  return url;
}

/** Refused before anything is looked up: a private address that is written out and that nobody allowed. */
export function refusedBySight(url: URL, destinations: Destinations): AddressProblem | null {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return null;
  const port = portOf(url);
  return destinations.names(host, port) || destinations.permits(host, port) ? null : notAllowed(host, host);
}

export function notAllowed(host: string, address: string): AddressProblem {
  const what = host === address ? `${host} is a private address` : `${host} is at the private address ${address}`;
  return { code: 'not-allowed', message: `${what}, which "allowDestinations" in node.json does not name` };
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** What was meant as an address may hold a password: only its beginning is ever shown. */
function shown(text: string): string {
  const beginning = text.slice(0, 100).replace(/\/\/[^/@]*@/, '//…@');
  return JSON.stringify(beginning.length < text.length ? `${beginning}…` : beginning);
}

function bad(message: string): AddressProblem {
  return { code: 'bad-address', message };
}
