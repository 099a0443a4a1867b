/** Every URL of RQ's compat layer has the same guard as the rest of the API. Derived from its table of routes. */
import { expect, test } from 'vitest';
import { rqRoutes } from '../../src/compat/rq/rq-routes.ts';
import { exampleParam } from '../../src/server/http/example.ts';
import type { Route } from '../../src/server/http/route.ts';
import { ROUTES } from '../../src/server/http/route-table.ts';
import { type Asked, openTrial, type TrialOptions } from '../server/trial-server.ts';

const nothing = { operate: async () => undefined, sync: async () => undefined };
const routes = rqRoutes({
  url: 'http://localhost:3333/',
  root: '/nowhere',
  markers: nothing,
  openSockets: async () => undefined,
  isOpen: false,
  startedAt: 0,
  environment: 'test',
});
const closed = routes.filter(({ role }) => role !== 'open');
const writing = routes.filter(({ method }) => method === 'POST');
const addressOf = ({ path, onlyWith }: Route): string =>
  `${path.replace(/\{([a-z]+)\}/gi, (_whole, name: string) => exampleParam(name))}${onlyWith === null ? '' : `?${onlyWith}=q`}`;

/** The routes that answered another status than they must. */
async function others(
  asked: readonly Route[],
  status: number,
  more: Asked & { trial?: TrialOptions },
): Promise<string[]> {
  const { trial = {}, ...request } = more;
  const server = await openTrial({ ...trial, routes: [...ROUTES, ...routes] });
  try {
    const wrong: string[] = [];
    for (const route of asked) {
      const answer = await server.ask(route.method, addressOf(route), request);
      if (answer.status !== status) wrong.push(`${route.method} ${route.path}: ${answer.status}`);
    }
    return wrong;
  } finally {
    await server.stop();
  }
}

test('rq guards: every URL refuses an unknown caller, another site and another host', async () => {
  // Those that only lead to the page.
  const open = routes.filter(({ role }) => role === 'open').map(({ name }) => name);
  expect(open).toEqual(['rq.new_queue.page', 'rq.tailviewlog', 'rq.tailview']);
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  // After twenty wrong tokens of one address the guard says something else.
  for (const some of [closed.slice(0, 15), closed.slice(15)])
    expect(await others(some, 401, { headers: { authorization: 'Bearer wrong' } })).toEqual([]);
  expect(await others(closed, 401, { trial: { requireToken: true } })).toEqual([]);
  expect(await others(writing, 403, { headers: { ...form, origin: 'http://evil.test' } })).toEqual([]);
  expect(await others(writing, 403, { headers: { ...form, 'sec-fetch-site': 'cross-site' } })).toEqual([]);
  expect(await others(routes, 421, { headers: { host: 'evil.test' } })).toEqual([]);
});
