/**
 * `createHandler()`: the web UI and its API inside another application, as a Node request handler and as a fetch handler.
 *
 * It serves what the store knows. Files, logs in a data directory and nodes belong to a node and are not served.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Check } from '../core/input/check.ts';
import { checked, object, show, text } from '../core/input/check.ts';
import type { Longhaul } from '../library/longhaul.ts';
import { packageVersion } from '../library/package-version.ts';
import { writeAudit } from '../server/auth/audit.ts';
import { createDispatch, type Dispatch } from '../server/http/dispatch.ts';
import { createRouteTable, ROUTES } from '../server/http/route-table.ts';
import { openEventFeed } from '../server/streams/event-feed.ts';
import { StreamBuffers } from '../server/streams/stream-buffers.ts';
import type { GivenContext } from '../server/views/context.ts';
import { openWebFiles } from '../server/views/web-files.ts';
import { idSource } from '../worker/loop/id-source.ts';
import { SettingsCache } from '../worker/loop/settings-cache.ts';
import type { Authorized } from './authorized.ts';
import { createFetch } from './fetch-handler.ts';
import { createMountGuard } from './mount-guard.ts';

/** A request as `authorize` receives it: of Node's HTTP server with what middleware added, or of fetch. */
export type MountedRequest = IncomingMessage | Request;

/** Options of `createHandler`. */
export interface HandlerOptions<Given extends MountedRequest = MountedRequest> {
  /** The path of the web UI in the application, such as `/admin/jobs`. Default: `/`. */
  readonly basePath?: string;
  /**
   * Returns the role of the caller, `read`, `submit`, `operate` or `admin`, alone or as `{ role, actor }` with a name for
   * the audit log; null refuses the request. Without it, every caller has the role `read`.
   */
  readonly authorize?: (request: Given) => Authorized | Promise<Authorized>;
  /** Receives unexpected errors. Default: they are only answered with status 500. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}

/** The web UI of a connection, for an HTTP server of the application. */
export interface MountedHandler {
  /** Handles a request of Node's HTTP server. A request outside of `basePath` is passed to `next`, or answered with 404. */
  readonly node: (request: IncomingMessage, response: ServerResponse, next?: () => void) => void;
  /** Handles a request of fetch. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Ends open event streams and releases what the handler holds. The connection stays open. */
  close(): void;
}

/** Routes for nodes, tokens and workers, which an application does not serve. */
const NOT_SERVED = /^(login|logout|tokens\.|store\.|relay\.|copies\.|claim$|heartbeat$|settle$)/;

const callable: Check<unknown> = (value, report, path) =>
  typeof value === 'function' ? value : report(path, `must be a function, not ${show(value)}`);
const shape = object({
  basePath: text({
    max: 256,
    pattern: /^\/(?:[A-Za-z0-9_.~-]+(?:\/[A-Za-z0-9_.~-]+)*\/?)?$/,
    must: 'must be a path such as /admin/jobs',
  }),
  authorize: callable,
  onTrouble: callable,
});

/**
 * Returns the web UI of a connection as a request handler.
 *
 *     app.use(createHandler(longhaul, { basePath: '/admin/jobs', authorize: (request) => roleOf(request) }).node);
 */
export function createHandler<Given extends MountedRequest = MountedRequest>(
  longhaul: Longhaul,
  options: HandlerOptions<Given> = {},
): MountedHandler {
  checked('createHandler options', options, shape);
  const { onTrouble = () => undefined } = options;
  const basePath = (options.basePath ?? '/').replace(/\/$/, '');
  const stopping = new AbortController();
  const given = contextOf(longhaul);
  const events = openEventFeed(given);
  const sources = new WeakMap<object, Request>();
  const guard = createMountGuard(async (request) =>
    options.authorize === undefined ? 'read' : options.authorize((sources.get(request.socket) ?? request) as Given),
  );
  const dispatch = createDispatch({
    context: { ...given, events },
    table: createRouteTable(ROUTES.filter(({ name }) => !NOT_SERVED.test(name))),
    guard,
    buffers: new StreamBuffers(),
    onAnswer: (answered) =>
      writeAudit(longhaul.store, answered, Date.now()).catch((error: unknown) =>
        onTrouble('cannot write an audit row', error),
      ),
    onTrouble,
  });
  const node = nodeHandler({ basePath, dispatch, stopping: stopping.signal });
  return {
    node,
    fetch: createFetch(node, sources),
    close() {
      stopping.abort();
      guard.stop();
      events.stop();
    },
  };
}

interface Mounted {
  readonly basePath: string;
  readonly dispatch: Dispatch;
  readonly stopping: AbortSignal;
}

const NOT_FOUND = 404;
const REDIRECT = 308;

function nodeHandler({ basePath, dispatch, stopping }: Mounted): MountedHandler['node'] {
  return (request, response, next) => {
    // Express removes the path of a mounted handler from `url`.
    const { originalUrl = request.url ?? '/' } = request as { originalUrl?: string };
    const rest = originalUrl.startsWith(basePath) ? originalUrl.slice(basePath.length) : null;
    if (rest === null || !/^(?:$|[/?])/.test(rest)) return next === undefined ? notFound(response) : next();
    // The addresses in the pages are relative to the folder of the web UI.
    if (!rest.startsWith('/')) return redirect(response, `${basePath}/${rest}`);
    if (request.readableEnded && Number(request.headers['content-length'] ?? 0) > 0) return bodyTaken(response);
    request.url = rest;
    void dispatch({ request, response }, 'tcp', stopping);
  };
}

function notFound(response: ServerResponse): void {
  response.writeHead(NOT_FOUND, { 'content-type': 'text/plain' }).end('not found\n');
}

function redirect(response: ServerResponse, location: string): void {
  response.writeHead(REDIRECT, { location }).end();
}

function bodyTaken(response: ServerResponse): void {
  const detail = 'the body of the request was read before: mount the handler before middleware that parses bodies\n';
  response.writeHead(500, { 'content-type': 'text/plain' }).end(detail);
}

function contextOf(longhaul: Longhaul): GivenContext {
  const { store } = longhaul;
  return {
    store,
    clock: 'store',
    settings: new SettingsCache(store),
    node: null,
    health: { readiness: async () => ({ isReady: true, problems: [] }), metrics: () => longhaul.metrics() },
    page: openWebFiles(fileURLToPath(new URL('../web', import.meta.url))),
    version: packageVersion(),
    newId: idSource(),
    now: () => Date.now(),
  };
}
