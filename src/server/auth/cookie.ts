/**
 * The session cookie of the web UI: HttpOnly, SameSite=Strict, and Secure over TLS.
 *
 * Cookies are not separated by port: two nodes on one host would overwrite each other's. Hence the port in the name.
 */
import type { IncomingMessage } from 'node:http';
import { SESSION_MS } from './sessions.ts';

export function cookieOf({ headers, socket }: IncomingMessage): string | null {
  const name = nameAt(socket.localPort);
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1] ?? null;
}

export function setCookie(request: IncomingMessage, value: string): string {
  return cookie(request, value, SESSION_MS / 1_000);
}

export function clearCookie(request: IncomingMessage): string {
  return cookie(request, '', 0);
}

function cookie({ headers, socket }: IncomingMessage, value: string, seconds: number): string {
  // A proxy terminates TLS, if there is any; the Origin header shows whether the browser uses https.
  const secure = headers.origin?.toLowerCase().startsWith('https://') ? '; Secure' : '';
  return `${nameAt(socket.localPort)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

const nameAt = (port: number | undefined): string => `longhaul-${port ?? 'socket'}`;
