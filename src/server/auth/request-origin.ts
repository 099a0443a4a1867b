/**
 * Where a request says it comes from and goes to. A browser can be made to speak to this server by any page its user has
 * open: hence the list of hosts (a foreign name may resolve to this machine) and the look at the sender's site.
 *
 * Looks at headers alone, and throws what it refuses.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { refuseRequest } from '../http/problem.ts';
import { holdsCredential } from './credential.ts';

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const OWN_SITES: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);
const SECRET_NAMES = /(?:^|&)(?:access_token|api_key|apikey|auth|authorization|bearer|token)(?:=|&|$)/i;

/** Two Host headers, or a target that names another host, are how one server is made to mistake itself for another. */
export function checkHostForm({ headers, rawHeaders, url = '' }: IncomingMessage): void {
  const count = rawHeaders.filter((name, place) => place % 2 === 0 && name.toLowerCase() === 'host').length;
  if (count > 1) throw refuseRequest('bad-request', 'the request has more than one Host header');
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (target !== undefined && target.toLowerCase() !== (headers.host ?? '').toLowerCase()) {
    throw refuseRequest('bad-request', 'the target of the request names another host than its Host header');
  }
}

/** A name must be one of ours. An address may be the one the request came in at: no name was resolved to it. */
export function checkHostName(request: IncomingMessage, known: ReadonlySet<string>): void {
  const host = hostOf(request);
  if (LOOPBACK_HOSTS.has(host) || known.has(host)) return;
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const here = request.socket.localAddress?.replace(/^::ffff:/, '');
  if (isIP(address) !== 0 && address === here) return;
  throw refuseRequest('foreign-host', 'this server does not answer for the host that the request names');
}

/**
 * What comes from another site is refused, whatever it wants: only somebody who follows a link may come from there.
 * (A page could not read the answer, but it could have things done, and learn from how long they take.)
 */
export function checkSite({ headers, method }: IncomingMessage): void {
  const isFollowing = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers.origin === undefined;
  if (isFollowing) return;
  if (OWN_SITES.has(headers['sec-fetch-site']) && isOwnOrigin(headers)) return;
  throw refuseRequest('forbidden', 'the request comes from a foreign page');
}

/** A cookie is sent by the browser whoever asks, so something must say that it was our own page. */
export function checkOwnPage({ headers, method }: IncomingMessage): void {
  if (method === 'GET' || method === 'HEAD') return;
  if (headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined) return;
  throw refuseRequest('forbidden', 'a request with a cookie must say that it comes from our own page');
}

/** Addresses are written to logs and histories: what stands in one is no secret any more. */
export function checkNoSecret({ url = '' }: IncomingMessage): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!holdsCredential(url) && !(url.includes('?') && SECRET_NAMES.test(query))) return;
  throw refuseRequest('bad-request', 'a token must not stand in an address: send it as Authorization: Bearer …');
}

/**
 * Whether somebody on this machine asks, and for himself. A proxy that runs here would lend its place to all the world:
 * it gives itself away by the headers it adds, or by asking for a name that is not the loopback's.
 */
export function isFromHere(request: IncomingMessage): boolean {
  const { headers, socket } = request;
  if (!LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '')) return false;
  const isPassedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  );
  return !isPassedOn && LOOPBACK_HOSTS.has(hostOf(request));
}

function isOwnOrigin({ origin, host }: IncomingMessage['headers']): boolean {
  return origin === undefined || origin.replace(/^https?:\/\//i, '').toLowerCase() === host?.toLowerCase();
}

function hostOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
}
