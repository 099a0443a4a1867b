/** Assembles the HTTP server of a node: routes, access control, listen addresses, and the socket in the data directory. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RqMarkers, type RqMarkersOptions } from '../../compat/rq/rq-markers.ts';
import { withRqPages } from '../../compat/rq/rq-pages.ts';
import { ownQueues } from '../../compat/rq/rq-queues.ts';
import { rqRoutes } from '../../compat/rq/rq-routes.ts';
import { RqSockets } from '../../compat/rq/rq-socket.ts';
import type { Store } from '../../core/ports/store.ts';
import type { Home } from '../../node/home.ts';
import type { NodeHealth } from '../../node/node-health.ts';
import type { NodeSettings } from '../../node/node-settings.ts';
import type { Node } from '../../node/open-node.ts';
import { openAccess } from '../../server/auth/access.ts';
import type { RateLimits } from '../../server/auth/rates.ts';
import type { HttpServer } from '../../server/http/open-server.ts';
import { openServer } from '../../server/http/open-server.ts';
import { createRouteTable, ROUTES } from '../../server/http/route-table.ts';
import type { GivenContext } from '../../server/views/context.ts';
import { openWebFiles } from '../../server/views/web-files.ts';
import { idSource } from '../../worker/loop/id-source.ts';
import { SettingsCache } from '../../worker/loop/settings-cache.ts';
import { errorMessage } from './serve-events.ts';
import type { Log } from './serve-log.ts';

export interface HttpParts {
  readonly home: Home;
  readonly store: Store;
  readonly node: Node;
  readonly health: NodeHealth;
  readonly settings: NodeSettings;
  readonly version: string;
  /** Addresses to listen on, and the port of all of them. */
  readonly listen: readonly string[];
  readonly port: number;
  readonly log: Log;
  /** On loopback addresses too. */
  readonly requireToken: boolean;
  readonly rates: RateLimits;
}

export const socketOf = (home: Home): string => join(home.root, 'node.sock');

export interface NodeHttp {
  readonly addresses: HttpServer['addresses'];
  /** Returns a code for a single login as admin in a browser. */
  loginCode(): Promise<string>;
  stop(): Promise<void>;
}

export async function openHttp(parts: HttpParts): Promise<NodeHttp> {
  const { store, settings, listen, log, requireToken, rates } = parts;
  const now = (): number => Date.now();
  const onTrouble = (what: string, error: unknown): void =>
    log.error({ error: errorMessage(error) }, `${what}: ${errorMessage(error)}`);
  const hosts = [...hostsOf(settings), ...listen.map(asHost)];
  const nodeBy = parts.node.nodeBy;
  const access = openAccess({ store, now, hosts, requireToken, rates, nodeBy, onTrouble });
  const context = contextOf(parts, access.store, now);
  const markers = rqMarkers(parts, context.settings, onTrouble);
  const sockets = new RqSockets({
    root: parts.home.root,
    socket: socketOf(parts.home),
    queues: () => rqQueueNames(parts),
    onTrouble,
  });
  const server = await openServer({
    tcp: listen.map((host) => ({ host, port: parts.port })),
    socket: socketOf(parts.home),
    table: createRouteTable([
      ...withRqPages(ROUTES),
      ...rqRoutes({ ...rqOptions(parts), startedAt: now(), markers, openSockets: () => sockets.check() }),
    ]),
    guard: access.guard,
    onAnswer: access.onAnswer,
    context,
    onTrouble,
  }).catch((error: unknown) => {
    access.stop();
    throw error;
  });
  const stop = async (): Promise<void> => {
    await sockets.stop();
    await markers.stop();
    await server.stop().finally(() => access.stop());
  };
  await Promise.all([sockets.start(), markers.start()]).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { addresses: server.addresses, loginCode: () => access.loginCode(), stop };
}

function rqOptions({ home, settings }: HttpParts) {
  return { url: settings.url, root: home.root, isOpen: settings.rq.open, environment: settings.env };
}

/** RQ's own queues have sockets and marker files from the start. */
function rqQueueNames({ node, settings }: HttpParts): ReadonlySet<string> {
  return new Set([...ownQueues({ isOpen: settings.rq.open }), ...node.queues().keys()]);
}

function rqMarkers(
  parts: HttpParts,
  settings: GivenContext['settings'],
  onTrouble: RqMarkersOptions['onTrouble'],
): RqMarkers {
  return new RqMarkers({
    root: parts.home.root,
    queues: () => rqQueueNames(parts),
    state: async (queue) => (await settings.read(queue)).state,
    setState: async (queue, state) => void (await settings.change(queue, { state })),
    onTrouble,
  });
}

function contextOf({ node, home, health, version, store }: HttpParts, guarded: Store, now: () => number): GivenContext {
  return {
    home: home.root,
    store: guarded,
    clock: 'store',
    settings: new SettingsCache(store),
    node,
    health,
    page: openWebFiles(fileURLToPath(new URL('../../web', import.meta.url))),
    version,
    newId: idSource(),
    now,
  };
}

/** Returns the host names of this node. */
function hostsOf({ url, aliases }: NodeSettings): readonly string[] {
  return [url, ...aliases].map((address) => new URL(address).hostname);
}

const asHost = (address: string): string => (address.includes(':') ? `[${address}]` : address);
