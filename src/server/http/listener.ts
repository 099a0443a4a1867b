/** One `node:http` server with our limits: on headers, time, and how many may be connected at once. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { Door } from '../auth/guard.ts';
import { MAX_HEADER_BYTES, refuseClient } from './client-error.ts';
import type { ConnectionRoom } from './connection-limit.ts';
import type { Dispatch } from './dispatch.ts';

export interface ListenerOptions {
  readonly dispatch: Dispatch;
  readonly door: Door;
  readonly stopping: AbortSignal;
  readonly room: ConnectionRoom;
}

const LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: 10_000,
  // A large upload may take hours: read-body.ts goes by idleness instead.
  requestTimeout: 0,
  connectionsCheckingInterval: 5_000,
  /** Longer than a client keeps an idle connection, so that it is the client who ends it and no request is lost to that. */
  keepAliveTimeout: 60_000,
};

export function createListener({ dispatch, door, stopping, room }: ListenerOptions): Server {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (stopping.aborted) response.setHeader('connection', 'close');
    // The head of an answer under way has promised to keep the connection: without this a stop would wait for it.
    response.once('finish', () => {
      if (stopping.aborted) request.socket.end();
    });
    void dispatch({ request, response }, door, stopping);
  };
  const server = createServer(LIMITS, answer);
  server.on('checkContinue', answer);
  server.on('connection', (socket: Socket) => room.enter(socket));
  server.on('clientError', refuseClient);
  return server;
}
