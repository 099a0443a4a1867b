/**
 * The texts that RQ's scripts search in its pages: the web UI's pages at the same addresses contain it, for clients that run no
 * JavaScript. It holds no data of jobs, because these pages are served without authentication.
 */
import type { IncomingMessage } from 'node:http';
import type { Reply } from '../../server/http/reply.ts';
import type { Route } from '../../server/http/route.ts';
import { seeOther } from './rq-replies.ts';

export const QUEUE_CREATED = 'queue created - awesome';
const STATUS = 'QUEUEMGR: OPERATIONAL';
const COOKIE = 'rq-notice=queue-created';
const PAGES: ReadonlySet<string> = new Set(['/', '/q/{queue}']);

/** Redirects to a page that shows the notice once: RQ's clients search for it there. */
export function seeCreated(address: string): Reply {
  const reply = seeOther(address, `${QUEUE_CREATED}\n`);
  return { ...reply, headers: { ...reply.headers, 'set-cookie': cookie(60) } };
}

export function withRqPages(routes: readonly Route[]): readonly Route[] {
  return routes.map((route) => {
    if (!PAGES.has(route.path) || route.method !== 'GET' || route.onlyWith !== null) return route;
    return { ...route, handle: async (call) => withNotice(await route.handle(call), call.request) };
  });
}

function withNotice(reply: Reply, { headers }: IncomingMessage): Reply {
  if (reply.body.kind !== 'text') return reply;
  const isCreated = (headers.cookie ?? '').split(';').some((pair) => pair.trim() === COOKIE);
  const lines = [STATUS, ...(isCreated ? [QUEUE_CREATED] : [])].map((line) => `<p>${line}</p>`);
  const text = reply.body.text.replace('</body>', () => `<noscript>${lines.join('')}</noscript></body>`);
  const cleared = isCreated ? { 'set-cookie': cookie(0) } : {};
  return { ...reply, headers: { ...reply.headers, ...cleared }, body: { kind: 'text', text } };
}

const cookie = (seconds: number): string => `${COOKIE}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
