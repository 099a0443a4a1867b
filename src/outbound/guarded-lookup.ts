/**
 * Looks a name up for a connection and lets only what is allowed through. The socket connects to the very address that
 * was judged, so a name that answers differently the next time gains nothing.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Destinations } from './destinations.ts';
import { notAllowed } from './outbound-address.ts';

/** Marks the error that a socket passes on, so that a refusal is told from a name that is not there. */
export const NOT_ALLOWED = 'ERR_LONGHAUL_NOT_ALLOWED';

export function guardedLookup(destinations: () => Destinations, port: number): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...(options as LookupOptions), all: true }, (error, found) => {
      if (error !== null) return done(error, '');
      const judge = destinations();
      const open = judge.names(host, port) ? found : found.filter(({ address }) => judge.permits(address, port));
      const [first] = open;
      if (first === undefined) return done(refusal(host, found), '');
      if (options.all === true) return done(null, [...open]);
      return done(null, first.address, first.family);
    });
  };
}

function refusal(host: string, found: readonly LookupAddress[]): NodeJS.ErrnoException {
  const { message } = notAllowed(host, found[0]?.address ?? 'none');
  return Object.assign(new Error(message), { code: NOT_ALLOWED });
}
