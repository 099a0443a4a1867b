/**
 * The HTTP server: one listener per address and one for the unix socket, all with the same routes.
 *
 * `stop()` ends the streams, finishes open requests, and resolves when every connection is closed.
 */
import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { refuseIncompleteCommits } from '../../files/attachments/refuse-incomplete-commits.ts';
import type { EventFeed } from '../streams/event-feed.ts';
import { openEventFeed } from '../streams/event-feed.ts';
import { StreamBuffers } from '../streams/stream-buffers.ts';
import type { GivenContext, ServerContext } from '../views/context.ts';
import type { ConnectionLimits } from './connection-limit.ts';
import { ConnectionLimiter, connectionLimits } from './connection-limit.ts';
import type { DispatchOptions } from './dispatch.ts';
import { createDispatch } from './dispatch.ts';
import type { SocketWatch } from './listen.ts';
import { listenOnPath, listenOnTcp, watchSocket } from './listen.ts';
import { createListener } from './listener.ts';

export interface TcpAddress {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

export interface ServerOptions extends Omit<DispatchOptions, 'context' | 'buffers'> {
  readonly context: GivenContext;
  readonly tcp: readonly TcpAddress[];
  /** The path of the unix socket; null for none. */
  readonly socket: string | null;
  /** Default: as many as the file descriptor limit allows. */
  readonly connections?: ConnectionLimits;
  /** Bounds the memory of all event streams; `MAX_UNREAD_BYTES` by default. */
  readonly buffers?: StreamBuffers;
}

export interface HttpServer {
  /** The TCP addresses, with the actual ports. */
  readonly addresses: readonly TcpAddress[];
  stop(): Promise<void>;
}

/** How long open requests may take after the server begins to stop. */
const DRAIN_MS = 5_000;

export async function openServer(options: ServerOptions): Promise<HttpServer> {
  const { connections = connectionLimits(), buffers = new StreamBuffers() } = options;
  const stopping = new AbortController();
  // Every open request adds a listener.
  setMaxListeners(0, stopping.signal);
  const events = openEventFeed(options.context);
  const dispatch = createDispatch({ ...options, buffers, context: serverContext(options.context, events) });
  const shared = { dispatch, stopping: stopping.signal };
  const tcpConnections = new ConnectionLimiter(connections.tcp);
  const servers: Server[] = [];
  const watches: SocketWatch[] = [];
  const stop = once(async () => {
    for (const watch of watches) await watch.stop();
    await closeAll(servers, stopping);
    events.stop();
  });
  const addresses: TcpAddress[] = [];
  try {
    for (const { host, port } of options.tcp) {
      const server = createListener({ ...shared, kind: 'tcp', connections: tcpConnections });
      servers.push(server);
      await listenOnTcp(server, host, port);
      addresses.push({ host, port: (server.address() as AddressInfo).port });
    }
    if (options.socket !== null) {
      const socketConnections = new ConnectionLimiter(connections.socket);
      const server = createListener({ ...shared, kind: 'socket', connections: socketConnections });
      servers.push(server);
      await listenOnPath(server, options.socket);
      watches.push(watchSocket(server, options.socket, options.onTrouble));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { addresses, stop };
}

/** Adds the event feed. If there are files, a draft is committed with all of them or not at all. */
function serverContext(given: GivenContext, events: EventFeed): ServerContext {
  const { store, node } = given;
  return { ...given, events, store: node === null ? store : refuseIncompleteCommits(store, node.uploads) };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= work());
}

async function closeAll(servers: readonly Server[], stopping: AbortController): Promise<void> {
  stopping.abort();
  await Promise.all(servers.map(closeOne));
}

function closeOne(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
