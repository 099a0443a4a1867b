/**
 * RQ's unix sockets in the data directory: `config/queuemgr.sock`, and `queue/<name>/queue.sock` for each queue. Each command is
 * a call of RQ's HTTP interface on the node's own socket, so that both have the same rules and the same audit.
 */
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { frame, readFrame } from './rq-frames.ts';
import { managerCommand, queueCommand } from './rq-socket-commands.ts';

export interface RqSocketsOptions {
  /** The data directory. */
  readonly root: string;
  /** The node's own socket. */
  readonly socket: string;
  queues(): Iterable<string>;
  onTrouble(what: string, error: unknown): void;
}

type Command = (name: string, text: string) => Promise<unknown>;

interface Listening {
  readonly server: Server;
  readonly connections: Set<Socket>;
  /** Of the socket's file: another number means that the file was removed. */
  readonly inode: number;
}

/** The longest path that a unix socket can have. */
const LONGEST_PATH = 107;
/** A socket that was removed is made again within this time. */
const CHECK_EVERY_MS = 2_000;

export class RqSockets {
  readonly #options: RqSocketsOptions;
  readonly #servers = new Map<string, Listening>();
  #timer: NodeJS.Timeout | null = null;
  #checking: Promise<void> = Promise.resolve();

  constructor(options: RqSocketsOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#listenAll();
    this.#timer = setInterval(() => void this.check(), CHECK_EVERY_MS);
    this.#timer.unref();
  }

  /** Opens sockets for new queues, and closes those of deleted ones. */
  check(): Promise<void> {
    this.#checking = this.#checking
      .then(() => this.#listenAll())
      .catch((error: unknown) => this.#options.onTrouble("the sockets of RQ's compat layer", error));
    return this.#checking;
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#checking;
    await Promise.all([...this.#servers.keys()].map((path) => this.#close(path)));
  }

  async #listenAll(): Promise<void> {
    const commands = this.#commands();
    for (const [path, run] of commands) {
      // The file of a removed socket cannot be brought back: its server is closed before another one takes the path.
      if (!(await this.#isThere(path))) await this.#close(path);
      if (!this.#servers.has(path)) await this.#listen(path, run);
    }
    const gone = [...this.#servers.keys()].filter((path) => !commands.has(path));
    for (const path of gone) await this.#close(path);
  }

  #commands(): ReadonlyMap<string, Command> {
    const { root, socket, queues } = this.#options;
    const commands = new Map<string, Command>();
    commands.set(join(root, 'config/queuemgr.sock'), (name, text) => managerCommand(socket, name, text));
    for (const queue of queues())
      commands.set(join(root, 'queue', queue, 'queue.sock'), (name, text) =>
        queueCommand(socket, queue, { name, text }),
      );
    return commands;
  }

  async #isThere(path: string): Promise<boolean> {
    const known = this.#servers.get(path);
    return known === undefined || (await inodeOf(path)) === known.inode;
  }

  async #listen(path: string, run: Command): Promise<void> {
    // A path that is too long for a socket: the queue has none, and everything else works.
    if (Buffer.byteLength(path) > LONGEST_PATH) return;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await rm(path, { force: true });
    const connections = new Set<Socket>();
    // A client that has sent its frame may close its side and still gets the reply.
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
      void answer(socket, run);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    server.unref();
    await writeFile(pidFile(path), `${process.pid}\n`, { mode: 0o644 });
    this.#servers.set(path, { server, connections, inode: (await inodeOf(path)) ?? 0 });
  }

  /** A client that connects and sends nothing must not hold up the end. */
  async #close(path: string): Promise<void> {
    const known = this.#servers.get(path);
    this.#servers.delete(path);
    if (known === undefined) return;
    const closed = new Promise<void>((resolve) => known.server.close(() => resolve()));
    for (const socket of known.connections) socket.destroy();
    await closed;
    // A disk that failed keeps it; the next node replaces it.
    await rm(pidFile(path), { force: true }).catch(() => undefined);
    await rm(path, { force: true }).catch((error: unknown) =>
      this.#options.onTrouble(`${path} cannot be removed`, error),
    );
  }
}

/** RQ's clients read the pid beside the socket; a SIGHUP to it reloads the queues. */
const pidFile = (socket: string): string => socket.replace(/\.sock$/, '.pid');

async function inodeOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ ino }) => ino,
    () => null,
  );
}

async function answer(socket: Socket, run: Command): Promise<void> {
  socket.on('error', () => socket.destroy());
  try {
    const body = await readFrame(socket);
    // What follows the frame is dropped; unread, it would keep the connection open.
    socket.resume();
    const [, name = '', text = ''] = /^(\S*)\s?([\s\S]*)$/.exec(body ?? '') ?? [];
    const reply = body === null ? ['ERROR'] : await run(name, text);
    socket.end(frame(JSON.stringify(reply)));
  } catch (error) {
    socket.end(frame(JSON.stringify(['fail', (error as Error).message])));
  }
}
