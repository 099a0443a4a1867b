/**
 * Checks the host and origin of a request. Any page that a user has open can make the browser call this server: hence the
 * list of hosts (against DNS rebinding) and the checks of the sender's site (against cross-site requests).
 *
 * Reads only headers, and throws a refusal.
 */
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { refuseRequest } from '../http/problem.ts';
import { holdsCredential } from './credential.ts';

const LOOPBACK_HOSTS: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
const LOOPBACK_ADDRESS = /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
const OWN_SITES: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);
const SECRET_NAMES = /(?:^|&)(?:access_token|api_key|apikey|auth|authorization|bearer|token)(?:=|&|$)/i;

/** Refuses two Host headers, or a request target that contradicts the Host header: both are used to confuse servers. */
export function checkHostForm({ headers, rawHeaders, url = '' }: IncomingMessage): void {
  const count = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (count > 1) throw refuseRequest('bad-request', 'the request has more than one Host header');
  const target = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  if (target !== undefined && target.toLowerCase() !== (headers.host ?? '').toLowerCase()) {
    throw refuseRequest('bad-request', 'the request target and the Host header name different hosts');
  }
}

/** Accepts only known names, and the literal address of the connection, which needs no name resolution. */
export function checkHostName(request: IncomingMessage, known: ReadonlySet<string>): void {
  const host = hostOf(request);
  if (LOOPBACK_HOSTS.has(host) || known.has(host)) return;
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const local = request.socket.localAddress?.replace(/^::ffff:/, '');
  if (isIP(address) !== 0 && address === local) return;
  throw refuseRequest('foreign-host', 'this server does not serve the host that the Host header names');
}

/**
 * Refuses requests from other sites, except for a user who follows a link. (A foreign page could not read the answer, but
 * it could trigger operations and measure their time.)
 */
export function checkSite({ headers, method }: IncomingMessage): void {
  const isNavigation = method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers.origin === undefined;
  if (isNavigation) return;
  if (OWN_SITES.has(headers['sec-fetch-site']) && isOwnOrigin(headers)) return;
  throw refuseRequest('forbidden', 'cross-site requests are not allowed');
}

/** Requires a header that proves the origin: browsers send a cookie with requests from any page. */
export function checkOrigin({ headers, method }: IncomingMessage): void {
  if (method === 'GET' || method === 'HEAD') return;
  if (headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined) return;
  throw refuseRequest('forbidden', 'a request with a cookie must have an Origin or Sec-Fetch-Site header');
}

/** Refuses credentials in a URL, since URLs are written to logs and histories. */
export function checkNoSecret({ url = '' }: IncomingMessage): void {
  const query = url.slice(url.indexOf('?') + 1);
  if (!holdsCredential(url) && !(url.includes('?') && SECRET_NAMES.test(query))) return;
  throw refuseRequest('bad-request', 'a token must not be in the URL: send it as Authorization: Bearer <token>');
}

/**
 * Returns whether the request comes from this machine and was not forwarded. A local proxy would make remote callers look
 * local; it is recognized by the headers it adds, or by a host name that is not a loopback name.
 */
export function isLocal(request: IncomingMessage): boolean {
  const { headers, socket } = request;
  if (!LOOPBACK_ADDRESS.test(socket.remoteAddress ?? '')) return false;
  const isForwarded = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'].some(
    (name) => headers[name] !== undefined,
  );
  return !isForwarded && LOOPBACK_HOSTS.has(hostOf(request));
}

function isOwnOrigin({ origin, host }: IncomingMessage['headers']): boolean {
  return origin === undefined || origin.replace(/^https?:\/\//i, '').toLowerCase() === host?.toLowerCase();
}

function hostOf({ headers }: IncomingMessage): string {
  return (headers.host ?? '').replace(/:\d+$/, '').toLowerCase();
}
