/**
 * The HTTP server: one listener for each address, and one for the unix socket, all with the same routes.
 *
 * `stop()` ends the streams, answers what is under way, and is resolved when every connection is closed.
 */
import { setMaxListeners } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withWholeCommits } from '../../files/attachments/refuse-incomplete-commits.ts';
import type { EventFeed } from '../streams/event-feed.ts';
import { openEventFeed } from '../streams/event-feed.ts';
import { StreamBuffers } from '../streams/stream-buffers.ts';
import type { GivenContext, ServerContext } from '../views/context.ts';
import type { ConnectionLimits } from './connection-limit.ts';
import { ConnectionRoom, connectionLimits } from './connection-limit.ts';
import type { DispatchOptions } from './dispatch.ts';
import { createDispatch } from './dispatch.ts';
import type { KeptSocket } from './listen.ts';
import { keepSocket, listenOnPath, listenOnTcp } from './listen.ts';
import { createListener } from './listener.ts';

export interface TcpAddress {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
}

export interface ServerOptions extends Omit<DispatchOptions, 'context' | 'buffers'> {
  readonly context: GivenContext;
  readonly tcp: readonly TcpAddress[];
  /** The path of the unix socket; null for none. */
  readonly socket: string | null;
  /** What the machine allows, unless told. */
  readonly connections?: ConnectionLimits;
  /** Bounds the memory of all event streams together; `MAX_UNREAD_BYTES` unless given. */
  readonly buffers?: StreamBuffers;
}

export interface HttpServer {
  /** Where it listens, with the ports it was given. */
  readonly addresses: readonly TcpAddress[];
  stop(): Promise<void>;
}

/** How long an answer that is under way may take once the server stops. */
const LAST_ANSWERS_MS = 5_000;

export async function openServer(options: ServerOptions): Promise<HttpServer> {
  const { connections = connectionLimits(), buffers = new StreamBuffers() } = options;
  const stopping = new AbortController();
  // Every request under way listens to it.
  setMaxListeners(0, stopping.signal);
  const events = openEventFeed(options.context);
  const dispatch = createDispatch({ ...options, buffers, context: wholeContext(options.context, events) });
  const shared = { dispatch, stopping: stopping.signal };
  const room = new ConnectionRoom(connections.tcp);
  const servers: Server[] = [];
  const sockets: KeptSocket[] = [];
  const stop = once(async () => {
    for (const socket of sockets) await socket.stop();
    await closeAll(servers, stopping);
    events.stop();
  });
  const addresses: TcpAddress[] = [];
  try {
    for (const { host, port } of options.tcp) {
      const server = createListener({ ...shared, door: 'tcp', room });
      servers.push(server);
      await listenOnTcp(server, host, port);
      addresses.push({ host, port: (server.address() as AddressInfo).port });
    }
    if (options.socket !== null) {
      const server = createListener({ ...shared, door: 'socket', room: new ConnectionRoom(connections.socket) });
      servers.push(server);
      await listenOnPath(server, options.socket);
      sockets.push(keepSocket(server, options.socket, options.onTrouble));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { addresses, stop };
}

/** Where there are files, a draft is committed with all of them or not at all. */
function wholeContext(given: GivenContext, events: EventFeed): ServerContext {
  const { store, node } = given;
  return { ...given, events, store: node === null ? store : withWholeCommits(store, node.uploads) };
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
    const timer = setTimeout(() => server.closeAllConnections(), LAST_ANSWERS_MS);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
