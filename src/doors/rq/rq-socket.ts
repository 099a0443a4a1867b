/**
 * RQ's unix sockets in the node's home: `config/queuemgr.sock`, and `queue/<name>/queue.sock` for each queue. Each command is
 * a call of RQ's HTTP interface on the node's own socket, so that both have the same rules and the same audit.
 */
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { frame, readFrame } from './rq-frames.ts';
import { managerCommand, queueCommand } from './rq-socket-commands.ts';

export interface RqSocketsOptions {
  /** The home's folder. */
  readonly root: string;
  /** The node's own socket. */
  readonly socket: string;
  queues(): Iterable<string>;
  onTrouble(what: string, error: unknown): void;
}

type Command = (name: string, text: string) => Promise<unknown>;

/** The longest path that a unix socket can have. */
const LONGEST_PATH = 107;
const LOOK_EVERY_MS = 2_000;

export class RqSockets {
  readonly #options: RqSocketsOptions;
  readonly #servers = new Map<string, Server>();
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: RqSocketsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { root, socket } = this.#options;
    await this.#listen(join(root, 'config/queuemgr.sock'), (name, text) => managerCommand(socket, name, text));
    await this.look();
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Queues come and go; so do their sockets. */
  look(): Promise<void> {
    this.#looking = this.#looking
      .then(() => this.#follow())
      .catch((error: unknown) => this.#options.onTrouble("the sockets of RQ's door", error));
    return this.#looking;
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#looking;
    await Promise.all([...this.#servers.keys()].map((path) => this.#close(path)));
  }

  async #follow(): Promise<void> {
    const { root, socket } = this.#options;
    const names = new Map([...this.#options.queues()].map((name) => [join(root, 'queue', name, 'queue.sock'), name]));
    for (const [path, queue] of names) {
      if (!this.#servers.has(path))
        await this.#listen(path, (name, text) => queueCommand(socket, queue, { name, text }));
    }
    const gone = [...this.#servers.keys()].filter((path) => path.endsWith('/queue.sock') && !names.has(path));
    for (const path of gone) await this.#close(path);
  }

  async #listen(path: string, run: Command): Promise<void> {
    // A home so deep that its sockets have no room does without them; everything else works.
    if (Buffer.byteLength(path) > LONGEST_PATH) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(path, { force: true });
    const server = createServer((socket) => void answer(socket, run));
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
    this.#servers.set(path, server);
  }

  async #close(path: string): Promise<void> {
    const server = this.#servers.get(path);
    this.#servers.delete(path);
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
    // A disk that failed keeps it; the next node replaces it.
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#options.onTrouble(`${path} cannot be removed`, error),
    );
  }
}

async function answer(socket: Socket, run: Command): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const body = await readFrame(socket);
    const [, name = '', text = ''] = /^(\S*)\s?([\s\S]*)$/.exec(body ?? '') ?? [];
    const reply = body === null ? ['ERROR'] : await run(name, text);
    socket.end(frame(JSON.stringify(reply)));
  } catch (error) {
    socket.end(frame(JSON.stringify(['fail', (error as Error).message])));
  }
}
