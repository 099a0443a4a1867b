/**
 * A DNS lookup for sockets that returns only allowed addresses. The socket connects to the address that was checked, so
 * a name that resolves differently the next time (DNS rebinding) gains nothing.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import type { Destinations } from './destinations.ts';
import { notAllowed } from './outbound-address.ts';

/** The code of the error that the socket passes on; it tells a refusal from a name that does not exist. */
export const NOT_ALLOWED = 'ERR_LONGHAUL_NOT_ALLOWED';

export function guardedLookup(destinations: () => Destinations, port: number): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...(options as LookupOptions), all: true }, (error, found) => {
      if (error !== null) return done(error, '');
      const current = destinations();
      const allowed = current.names(host, port) ? found : found.filter(({ address }) => current.permits(address, port));
      const [first] = allowed;
      if (first === undefined) return done(refusal(host, found), '');
      if (options.all === true) return done(null, [...allowed]);
      return done(null, first.address, first.family);
    });
  };
}

function refusal(host: string, found: readonly LookupAddress[]): NodeJS.ErrnoException {
  const { message } = notAllowed(host, found[0]?.address ?? 'none');
  return Object.assign(new Error(message), { code: NOT_ALLOWED });
}
