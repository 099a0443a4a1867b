/**
 * A TCP proxy in front of a node that cuts connections, delays bytes, or lets nothing pass. It knows no protocol and must
 * never change a byte that it forwards.
 */
import { connect, createServer, type Server, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** The next so many answers are lost: the connection is cut when their first bytes arrive. */
  cutNext: number;
  /** How long each piece of an answer is delayed. */
  delayMs: number;
  /** Closes connections, and new ones as soon as they are made. */
  isDown: boolean;
  readonly cuts: number;
  close(): Promise<void>;
}

export async function openTcpProxy(target: number): Promise<TcpProxy> {
  const proxy = new Proxy(target);
  await proxy.listen();
  return proxy;
}

class Proxy implements TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  cutNext = 0;
  delayMs = 0;
  cuts = 0;
  #isDown = false;

  constructor(target: number) {
    this.#server = createServer({ noDelay: true }, (client) => this.#accept(client, target));
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  get isDown(): boolean {
    return this.#isDown;
  }

  set isDown(isDown: boolean) {
    this.#isDown = isDown;
    if (isDown) for (const socket of this.#sockets) socket.destroy();
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', resolve);
    });
  }

  close(): Promise<void> {
    this.isDown = true;
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #accept(client: Socket, target: number): void {
    if (this.#isDown) return void client.destroy();
    const server = connect({ port: target, host: '127.0.0.1', noDelay: true });
    const cut = (): void => void (client.destroy(), server.destroy());
    for (const socket of [client, server]) {
      this.#sockets.add(socket);
      socket.on('error', cut);
      socket.once('close', () => {
        this.#sockets.delete(socket);
        cut();
      });
    }
    const delayed: Buffer[] = [];
    client.on('data', (bytes) => void server.write(bytes));
    server.on('data', (bytes) => {
      if (this.cutNext > 0) {
        this.cutNext -= 1;
        this.cuts += 1;
        return cut();
      }
      if (this.delayMs === 0 && delayed.length === 0) return void client.write(bytes);
      delayed.push(bytes);
      // The first timer takes the first piece: a change of the delay must not change their order.
      setTimeout(() => client.write(delayed.shift() ?? ''), this.delayMs);
      return undefined;
    });
  }
}
