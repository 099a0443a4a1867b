/** Creates a `node:http` server with limits on headers, time and connections. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import type { ListenerKind } from '../auth/guard.ts';
import { MAX_HEADER_BYTES, refuseClient } from './client-error.ts';
import type { ConnectionLimiter } from './connection-limit.ts';
import type { Dispatch } from './dispatch.ts';

export interface ListenerOptions {
  readonly dispatch: Dispatch;
  readonly kind: ListenerKind;
  readonly stopping: AbortSignal;
  readonly connections: ConnectionLimiter;
}

const LIMITS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  headersTimeout: 10_000,
  // A large upload may take hours: read-body.ts enforces a minimum rate instead.
  requestTimeout: 0,
  connectionsCheckingInterval: 5_000,
  /** Longer than clients keep idle connections, so that the client closes them and no request meets a closing one. */
  keepAliveTimeout: 60_000,
};

export function createListener({ dispatch, kind, stopping, connections }: ListenerOptions): Server {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (stopping.aborted) response.setHeader('connection', 'close');
    // An answer that began before the stop has promised keep-alive; its connection must be closed explicitly.
    response.once('finish', () => {
      if (stopping.aborted) request.socket.end();
    });
    void dispatch({ request, response }, kind, stopping);
  };
  const server = createServer(LIMITS, answer);
  server.on('checkContinue', answer);
  server.on('connection', (socket: Socket) => connections.add(socket));
  server.on('clientError', refuseClient);
  return server;
}
