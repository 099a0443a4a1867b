/**
 * An HTTP proxy in front of a node that breaks a request at a chosen point: before it is forwarded, in the middle of
 * its body, after it was processed, in the middle of its response, or by holding the response back. It must never
 * change a byte that it forwards, except the Host header, which names the node behind it.
 *
 * It listens on every loopback address, so that each case of a test can have an address, and a fate, of its own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** `hold`: processed, and its response never arrives. All except `pass` and `hold` end the connection. */
export type HttpFate = 'pass' | 'cut-before' | 'cut-middle' | 'lose-reply' | 'half-reply' | 'hold';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The address that the client called. */
  readonly host: string;
  /** The requested range of the response; empty for the whole. */
  readonly range: string;
}

export interface HttpFaultProxy {
  readonly port: number;
  /** Every request, in order. */
  readonly seen: readonly SeenRequest[];
  decide: (request: SeenRequest) => HttpFate | Promise<HttpFate>;
  /** Called when a request was processed and its response is about to be forwarded or lost. */
  onDone: (request: SeenRequest) => void | Promise<void>;
  /** Called for each chunk of a body. */
  onBody: (bytes: number) => void;
  /** The port of the node; it may change. */
  target: number;
  /** Cuts every connection. */
  cutAll(): void;
  /** Refuses every connection while it is down. */
  isDown: boolean;
  close(): Promise<void>;
}

export async function openHttpFaultProxy(target: number): Promise<HttpFaultProxy> {
  const sockets = new Set<Socket>();
  const seen: SeenRequest[] = [];
  const server = createServer((asked, reply) => {
    void pass(proxy, { asked, reply, seen }).catch(() => asked.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    if (proxy.isDown) return void socket.destroy();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  const proxy: HttpFaultProxy = {
    port: (server.address() as AddressInfo).port,
    seen,
    decide: () => 'pass',
    onDone: () => undefined,
    onBody: () => undefined,
    target,
    isDown: false,
    cutAll: () => sockets.forEach((socket) => void socket.destroy()),
    close: () => closed(server, sockets),
  };
  return proxy;
}

interface Exchange {
  readonly asked: IncomingMessage;
  readonly reply: ServerResponse;
  readonly seen: SeenRequest[];
}

async function pass(proxy: HttpFaultProxy, { asked, reply, seen }: Exchange): Promise<void> {
  const what = {
    method: asked.method ?? '',
    path: asked.url ?? '',
    host: asked.socket.localAddress ?? '',
    range: asked.headers.range ?? '',
  };
  seen.push(what);
  const fate = await proxy.decide(what);
  if (fate === 'cut-before') return void asked.socket.destroy();
  const answer = await forward(proxy, asked, fate);
  const body = Buffer.concat((await answer.toArray()) as Buffer[]);
  await proxy.onDone(what);
  if (fate === 'lose-reply') return void asked.socket.destroy();
  if (fate === 'hold') return;
  reply.writeHead(answer.statusCode ?? 0, answer.headers);
  if (fate === 'pass') return void reply.end(body);
  reply.write(body.subarray(0, body.length >> 1));
  setImmediate(() => asked.socket.destroy());
}

function forward(proxy: HttpFaultProxy, asked: IncomingMessage, fate: HttpFate): Promise<IncomingMessage> {
  const { method, url: path } = asked;
  const headers = { ...asked.headers, host: `127.0.0.1:${proxy.target}` };
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: proxy.target, method, path, headers, agent: false }, resolve);
    sent.on('error', reject);
    asked.on('data', (piece: Buffer) => proxy.onBody(piece.length));
    asked.on('error', () => sent.destroy());
    asked.on('close', () => asked.complete || sent.destroy());
    if (fate !== 'cut-middle') return void asked.pipe(sent);
    sendHalf(asked, sent, Number(headers['content-length'] ?? 0) >> 1);
    return undefined;
  });
}

/** Both ends are cut once the first half was sent. */
function sendHalf(asked: IncomingMessage, sent: ReturnType<typeof request>, half: number): void {
  let bytes = 0;
  asked.on('data', (piece: Buffer) => {
    const room = half - bytes;
    bytes += piece.length;
    if (room <= 0) return;
    sent.write(piece.subarray(0, room), () => {
      if (bytes < half) return;
      // The node must have read it before the connection is closed.
      setTimeout(() => void (sent.destroy(), asked.socket.destroy()), 50);
    });
  });
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
