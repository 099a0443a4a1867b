/**
 * An HTTP proxy before a node that breaks a request exactly where a test wants it: before it is passed on, in the middle of
 * its body, after it was done, in the middle of its answer, or by holding the answer back. It must never change a byte that
 * it lets through, but for the Host header, which names the node behind it.
 *
 * It listens on every loopback address, so that each case of a test can have an address, and a fate, of its own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, request } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** `hold`: done, and its answer never comes. All but `pass` and `hold` end the connection. */
export type HttpFate = 'pass' | 'cut-before' | 'cut-middle' | 'lose-reply' | 'half-reply' | 'hold';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** The address that the client called. */
  readonly host: string;
  /** Which part of the answer it asked for; empty for the whole. */
  readonly range: string;
}

export interface HttpFaultProxy {
  readonly port: number;
  /** Everything that was asked, in order. */
  readonly seen: readonly SeenRequest[];
  decide: (request: SeenRequest) => HttpFate | Promise<HttpFate>;
  /** Told when a request was done and its answer is about to be passed on or lost. */
  onDone: (request: SeenRequest) => void | Promise<void>;
  /** Told of each piece of a body that comes by. */
  onBody: (bytes: number) => void;
  /** Where the node is; it may move. */
  target: number;
  /** Cuts every connection. */
  cutAll(): void;
  /** Nobody gets through while it is down. */
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

/** What has come through by then has come through: both ends are cut once it is out. */
function sendHalf(asked: IncomingMessage, sent: ReturnType<typeof request>, half: number): void {
  let bytes = 0;
  asked.on('data', (piece: Buffer) => {
    const room = half - bytes;
    bytes += piece.length;
    if (room <= 0) return;
    sent.write(piece.subarray(0, room), () => {
      if (bytes < half) return;
      // The node must have read it before the connection is gone.
      setTimeout(() => void (sent.destroy(), asked.socket.destroy()), 50);
    });
  });
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy();
  return new Promise((resolve) => server.close(() => resolve()));
}
