/**
 * The cookie of the page. Scripts cannot read it, no other site can have it sent, and over TLS it goes no other way.
 *
 * Cookies know no ports: two nodes of one host would overwrite each other's, hence the port in its name.
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
  // TLS ends before us, where there is any; the page's own address, which its browser sends, tells.
  const secure = headers.origin?.toLowerCase().startsWith('https://') ? '; Secure' : '';
  return `${nameAt(socket.localPort)}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
}

const nameAt = (port: number | undefined): string => `longhaul-${port ?? 'socket'}`;
