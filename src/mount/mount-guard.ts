/**
 * The guard of a mounted web UI. The application authenticates its users: `authorize` returns the role of a request.
 *
 *     no authorize ──▶ read       authorize: a role ──▶ that role       null ──▶ refused, the pages included
 *
 * Invariant: a request that changes something proves its origin, because browsers send cookies with requests from any page.
 */
import type { IncomingMessage } from 'node:http';
import type { Guard } from '../server/auth/guard.ts';
import { checkHostForm, checkNoSecret, checkOrigin, checkSite } from '../server/auth/request-origin.ts';
import { Overload } from '../server/http/overload.ts';
import { refuseRequest } from '../server/http/problem.ts';
import type { Principal } from '../server/http/route.ts';
import { allows, ROLES } from '../wire/role.ts';
import type { Authorized } from './authorized.ts';

export interface MountGuard extends Guard {
  stop(): void;
}

/** `authorizedBy` returns what the application said about a request. */
export function createMountGuard(authorizedBy: (request: IncomingMessage) => Promise<Authorized>): MountGuard {
  const load = new Overload();
  return {
    screen(request) {
      checkHostForm(request);
      checkSite(request);
      checkNoSecret(request);
      if (!/^Bearer /i.test(request.headers.authorization ?? '')) checkOrigin(request);
    },
    async admit(request, { route, gone }) {
      const principal = principalOf(await authorizedBy(request), request);
      if (!allows(principal.role, route.role))
        throw refuseRequest(
          'forbidden',
          `${route.name} requires the role ${route.role}; ${principal.actor} has the role ${principal.role}`,
        );
      return { principal, revoked: null, reserve: load.enter(route, gone) };
    },
    stop: () => load.stop(),
  };
}

function principalOf(authorized: Authorized, { socket }: IncomingMessage): Principal {
  if (authorized === null) throw refuseRequest('forbidden', 'the application does not allow this request');
  const { role, actor } = typeof authorized === 'string' ? { role: authorized, actor: 'app' } : authorized;
  if (!ROLES.includes(role)) throw new TypeError(`authorize returned ${JSON.stringify(role)}, which is no role`);
  return { actor: actor === 'app' ? actor : `app:${actor}`, role, from: socket.remoteAddress ?? '', token: null };
}
