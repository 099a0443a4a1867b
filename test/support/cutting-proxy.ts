/**
 * A TCP proxy in front of a Redis server that breaks connections at a chosen point: at a given request, before it is
 * forwarded, in its middle, after it was executed, or in the middle of its reply. It can also be silent, slow or
 * unavailable.
 *
 * Of RESP it knows only where messages end. It must never change a byte that it forwards.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * The fate of a request. `drop`: the server never gets it. `half-request`: the server gets half of it. `lose-reply`:
 * the server executes it, and its reply is lost. `half-reply`: half of the reply arrives. All except `pass` end the
 * connection.
 */
export type Fate = 'pass' | 'drop' | 'half-request' | 'lose-reply' | 'half-reply';

export interface Request {
  /** Counted from 1 over all connections. */
  readonly number: number;
  /** The command in capitals: `EVALSHA`. */
  readonly command: string;
}

export type ProxyMode =
  | 'open'
  /** Connections are closed, new ones as soon as they are made. */
  | 'down'
  /** Connections stay open, nothing is forwarded. Data sent meanwhile arrives when the proxy is open again. */
  | 'silent';

export interface CuttingProxy {
  readonly url: string;
  readonly requests: number;
  readonly cuts: number;
  readonly connections: number;
  /** Decides the fate of every request. */
  decide: (request: Request) => Fate;
  /** How long a reply is delayed. */
  delayMs: number;
  mode: ProxyMode;
  close(): Promise<void>;
}

export async function openCuttingProxy(serverPort: number): Promise<CuttingProxy> {
  const proxy = new Proxy(serverPort);
  await proxy.listen();
  return proxy;
}

class Proxy implements CuttingProxy {
  decide: (request: Request) => Fate = () => 'pass';
  delayMs = 0;
  requests = 0;
  cuts = 0;
  readonly #serverPort: number;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #mode: ProxyMode = 'open';

  constructor(serverPort: number) {
    this.#serverPort = serverPort;
    this.#listener = createServer({ noDelay: true }, (client) => this.#accept(client));
  }

  get url(): string {
    const address = this.#listener.address();
    return `redis://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  }

  get connections(): number {
    return this.#links.size;
  }

  get mode(): ProxyMode {
    return this.#mode;
  }

  set mode(mode: ProxyMode) {
    this.#mode = mode;
    for (const link of this.#links) {
      if (mode === 'down') link.cut();
      else link.forwardWhole();
    }
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen(0, '127.0.0.1', resolve);
    });
  }

  close(): Promise<void> {
    for (const link of this.#links) link.cut();
    return new Promise((resolve) => this.#listener.close(() => resolve()));
  }

  /** The fate of the next request. */
  judge(command: string): Fate {
    this.requests += 1;
    const fate = this.decide({ number: this.requests, command });
    if (fate !== 'pass') this.cuts += 1;
    return fate;
  }

  #accept(client: Socket): void {
    if (this.#mode === 'down') return void client.destroy();
    const link = new Link(this, client, connect({ port: this.#serverPort, host: '127.0.0.1', noDelay: true }));
    this.#links.add(link);
    client.once('close', () => this.#links.delete(link));
  }
}

/** One connection through the proxy. */
class Link {
  readonly #proxy: Proxy;
  readonly #client: Socket;
  readonly #server: Socket;
  #fromClient = Buffer.alloc(0);
  #fromServer = Buffer.alloc(0);
  /** Fates of the requests whose replies have not arrived yet. */
  readonly #due: Fate[] = [];
  readonly #delayed: Buffer[] = [];

  constructor(proxy: Proxy, client: Socket, server: Socket) {
    this.#proxy = proxy;
    this.#client = client;
    this.#server = server;
    for (const socket of [client, server]) {
      socket.on('error', () => undefined);
      socket.once('close', () => this.cut());
    }
    client.on('data', (bytes) => {
      this.#fromClient = Buffer.concat([this.#fromClient, bytes]);
      this.forwardWhole();
    });
    server.on('data', (bytes) => {
      this.#fromServer = Buffer.concat([this.#fromServer, bytes]);
      this.forwardWhole();
    });
  }

  cut(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  /** Forwards all complete messages. */
  forwardWhole(): void {
    if (this.#proxy.mode !== 'open') return;
    for (let end = endOf(this.#fromClient); end > 0 && !this.#client.destroyed; end = endOf(this.#fromClient)) {
      const request = this.#fromClient.subarray(0, end);
      this.#fromClient = this.#fromClient.subarray(end);
      this.#forward(request, this.#proxy.judge(commandOf(request)));
    }
    for (let end = endOf(this.#fromServer); end > 0 && !this.#client.destroyed; end = endOf(this.#fromServer)) {
      const reply = this.#fromServer.subarray(0, end);
      this.#fromServer = this.#fromServer.subarray(end);
      this.#answer(reply, isPush(reply) ? 'pass' : (this.#due.shift() ?? 'pass'));
    }
  }

  #forward(request: Buffer, fate: Fate): void {
    if (fate === 'drop') return this.cut();
    if (fate === 'half-request') {
      this.#server.end(request.subarray(0, request.length >> 1));
      return void this.#client.destroy();
    }
    this.#due.push(fate);
    this.#server.write(request);
  }

  #answer(reply: Buffer, fate: Fate): void {
    if (fate === 'lose-reply') return this.cut();
    if (fate === 'half-reply') {
      this.#client.end(reply.subarray(0, reply.length >> 1));
      return void this.#server.destroy();
    }
    if (this.#proxy.delayMs === 0 && this.#delayed.length === 0) return void this.#client.write(reply);
    this.#delayed.push(reply);
    // The first timer takes the first reply: a change of the delay must not change their order.
    setTimeout(() => this.#client.write(this.#delayed.shift() ?? ''), this.#proxy.delayMs);
  }
}

const CR = 13;
const SIZED = '$=!';
const LISTS = '*~>';
const MAPS = '%|';

/** Returns where the first message ends: 0 while it is incomplete. A list is complete when all its elements are. */
export function endOf(bytes: Buffer): number {
  let at = 0;
  for (let open = 1; open > 0; open -= 1) {
    const line = bytes.indexOf(CR, at);
    if (line < 0) return 0;
    const kind = String.fromCharCode(bytes[at] ?? 0);
    const size = Math.max(0, Number(bytes.toString('latin1', at + 1, line)));
    const isNull = bytes[at + 1] === '-'.charCodeAt(0);
    at = line + 2;
    if (SIZED.includes(kind) && !isNull) at += size + 2;
    if (LISTS.includes(kind)) open += size;
    // An attribute precedes its reply.
    if (MAPS.includes(kind)) open += 2 * size + (kind === '|' ? 1 : 0);
  }
  return at <= bytes.length ? at : 0;
}

function isPush(reply: Buffer): boolean {
  return reply[0] === '>'.charCodeAt(0);
}

/** `*3 $7 EVALSHA …`: the command is on the third line. */
function commandOf(request: Buffer): string {
  return request.toString('latin1', 0, 64).split('\r\n')[2]?.toUpperCase() ?? '';
}
