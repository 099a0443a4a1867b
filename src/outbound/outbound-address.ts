/** Checks a URL before any lookup: its form, and whether it contains a private IP address literally. */
import { isIP } from 'node:net';
import type { Destinations } from './destinations.ts';

export type AddressProblem = { readonly code: 'bad-address' | 'not-allowed'; readonly message: string };

/** Parses a URL, or returns why it cannot be called. WHATWG parsing normalises every notation of an IPv4 address. */
export function readAddress(text: string): URL | AddressProblem {
  if (!URL.canParse(text)) return bad(`${redacted(text)} is not a URL such as http://host:3333/q/queue`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return bad(`${redacted(text)} is neither http nor https`);
  if (url.username !== '' || url.password !== '')
    return bad('a URL must not contain a user or a password; put a token into node.json');
  return url;
}

/** Refuses a URL whose host is a literal private address that is not allowed. No lookup is made. */
export function refuseLiteralAddress(url: URL, destinations: Destinations): AddressProblem | null {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0) return null;
  const port = portOf(url);
  return destinations.names(host, port) || destinations.permits(host, port) ? null : notAllowed(host, host);
}

export function notAllowed(host: string, address: string): AddressProblem {
  const what = host === address ? `${host} is a private address` : `${host} is at the private address ${address}`;
  return { code: 'not-allowed', message: `${what}, which "allowDestinations" in node.json does not list` };
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}

/** A malformed URL may contain a password: the message shows only its beginning, without credentials. */
function redacted(text: string): string {
  const beginning = text.slice(0, 100).replace(/\/\/[^/@]*@/, '//…@');
  return JSON.stringify(beginning.length < text.length ? `${beginning}…` : beginning);
}

function bad(message: string): AddressProblem {
  return { code: 'bad-address', message };
}
