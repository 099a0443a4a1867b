/**
 * A client: one connection to one server, over a plain socket or TLS.
 *
 * It never sends a command twice, queues none while it has no connection, and does not connect again: a client that did
 * so added a job twice after one lost reply. Why no client library: docs/decisions/0034-a-redis-client-of-our-own.md.
 *
 * Invariant: the server answers in the order of the commands. So an answer belongs to the oldest command without one, and
 * a deadline concerns that command first.
 */
import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { Place } from './address.ts';
import { DeadlineError, within } from './deadline.ts';
import type { RedisSettings } from './options.ts';
import { ErrorReply, encodeCommand, type Reply, ReplyReader } from './protocol.ts';

export interface Client {
  readonly place: Place;
  send(command: readonly string[]): Promise<unknown>;
  /** The same for an answer that is not text. */
  sendForBytes(command: readonly string[]): Promise<unknown>;
  /** Resolves when the subscription is active. */
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  /** Ends the connection when a command has no answer after `ms`. */
  limitAnswers(ms: number): void;
  /** Calls back for each error that the server answers. */
  onErrorReply(listener: (error: ErrorReply) => void): void;
  /** Calls back once when the connection is lost; never for `destroy`. */
  onLost(listener: () => void): void;
  destroy(): void;
}

/** The user, and the number of the database. */
export interface Login {
  readonly username: string;
  readonly password: string;
  readonly db: number;
}

/** The command was not sent. */
export class NotSentError extends Error {}

/** A command that has no answer yet. */
interface Pending {
  readonly sentAt: number;
  readonly isBinary: boolean;
  resolve(reply: Reply): void;
  reject(error: Error): void;
}

const CLOSED_THERE = 'the server closed the connection';
const MAX_PENDING_COMMANDS = 10_000;
/** A connection that only receives messages would not notice that its server is unreachable. */
const PING_MS = 10_000;
/** Pings without a sign of the server, after which the connection is lost. */
const MAX_SILENT_PINGS = 3;

export type OpenClient = (place: Place, login: Login) => Promise<Client>;

/** Returns a function that connects to a server. It reads the files of certificates each time: they may be renewed. */
export function clientsOf(settings: RedisSettings): OpenClient {
  return async (place, { username, password, db }) => {
    const socket = settings.address.isTls
      ? connectTls({ ...place, ...tlsOf(settings, place) })
      : connectPlain({ ...place });
    const client = new SocketClient(socket, place);
    const logIn = async (): Promise<void> => {
      await connected(socket, settings.address.isTls);
      if (password !== '') await client.send(['AUTH', ...(username === '' ? [] : [username]), password]);
      if (db !== 0) await client.send(['SELECT', String(db)]);
    };
    try {
      await within(settings.connectTimeoutMs, logIn());
    } catch (error) {
      client.destroy();
      throw error;
    }
    return client;
  };
}

function connected(socket: Socket, isTls: boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(isTls ? 'secureConnect' : 'connect', () => resolve());
    socket.once('error', reject);
    socket.once('close', () => reject(new Error(CLOSED_THERE)));
  });
}

class SocketClient implements Client {
  readonly place: Place;
  readonly #socket: Socket;
  readonly #listeners = new Map<string, (message: string) => void>();
  readonly #reader = new ReplyReader();
  /** In the order in which they were sent. */
  readonly #pending: Pending[] = [];
  /** Commands of this turn of the event loop. */
  #out = '';
  #limitMs = Number.POSITIVE_INFINITY;
  #limit: NodeJS.Timeout | null = null;
  readonly #pings: NodeJS.Timeout;
  #silentPings = 0;
  /** Why the connection ended; null while it is open. */
  #ended: Error | null = null;
  #onLost: (() => void) | null = null;
  #onErrorReply: ((error: ErrorReply) => void) | null = null;

  constructor(socket: Socket, place: Place) {
    this.place = place;
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', this.#read);
    socket.on('error', (error) => this.#end(error));
    socket.on('close', () => this.#end(new Error(CLOSED_THERE)));
    this.#pings = setInterval(() => this.#ping(), PING_MS);
    this.#pings.unref();
  }

  send(command: readonly string[]): Promise<unknown> {
    return this.#send(command, false);
  }

  sendForBytes(command: readonly string[]): Promise<unknown> {
    return this.#send(command, true);
  }

  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    this.#listeners.set(channel, listener);
    await this.send(['SUBSCRIBE', channel]);
  }

  limitAnswers(ms: number): void {
    this.#limitMs = ms;
  }

  onErrorReply(listener: (error: ErrorReply) => void): void {
    this.#onErrorReply = listener;
  }

  onLost(listener: () => void): void {
    if (this.#ended === null) this.#onLost = listener;
    else queueMicrotask(listener);
  }

  destroy(): void {
    this.#onLost = null;
    this.#end(new Error('the connection was closed here'));
  }

  #send(command: readonly string[], isBinary: boolean): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.#ended !== null) return reject(new NotSentError(this.#ended.message));
      if (this.#pending.length >= MAX_PENDING_COMMANDS)
        return reject(new NotSentError(`${MAX_PENDING_COMMANDS} commands wait for their answers`));
      this.#pending.push({ sentAt: performance.now(), isBinary, resolve, reject });
      this.#watchOldest(this.#limitMs);
      // All commands of a turn are one write, so that what may run meanwhile begins first.
      if (this.#out === '') process.nextTick(this.#write);
      this.#out += encodeCommand(command);
    });
  }

  readonly #write = (): void => {
    const out = this.#out;
    this.#out = '';
    if (this.#ended === null) this.#socket.write(out);
  };

  readonly #read = (bytes: Buffer): void => {
    this.#silentPings = 0;
    try {
      for (const reply of this.#reader.read(bytes, this.#isBinary)) this.#receive(reply);
    } catch (error) {
      this.#end(error as Error);
    }
  };

  readonly #isBinary = (before: number): boolean => this.#pending[before]?.isBinary === true;

  #receive(reply: Reply): void {
    if (this.#listeners.size > 0 && this.#isMessage(reply)) return;
    const pending = this.#pending.shift();
    if (!(reply instanceof ErrorReply)) return pending?.resolve(reply);
    this.#onErrorReply?.(reply);
    pending?.reject(reply);
  }

  /** A listener is called after this task, so that its errors do not end the connection. */
  #isMessage(reply: Reply): boolean {
    if (!Array.isArray(reply) || reply[0] !== 'message') return false;
    const [, channel, message] = reply;
    queueMicrotask(() => this.#listeners.get(String(channel))?.(String(message)));
    return true;
  }

  #watchOldest(ms: number): void {
    if (this.#limit !== null || ms === Number.POSITIVE_INFINITY) return;
    this.#limit = setTimeout(() => this.#checkOldest(), ms);
    this.#limit.unref();
  }

  #checkOldest(): void {
    this.#limit = null;
    const [oldest] = this.#pending;
    if (oldest === undefined) return;
    const leftMs = oldest.sentAt + this.#limitMs - performance.now();
    if (leftMs > 0) this.#watchOldest(Math.ceil(leftMs));
    else this.#end(new DeadlineError(`no answer within ${this.#limitMs} ms`));
  }

  #ping(): void {
    this.#silentPings += 1;
    if (this.#silentPings > MAX_SILENT_PINGS) this.#end(new Error('the server is silent'));
    else this.send(['PING']).catch(() => undefined);
  }

  #end(why: Error): void {
    if (this.#ended !== null) return;
    this.#ended = why;
    clearInterval(this.#pings);
    if (this.#limit !== null) clearTimeout(this.#limit);
    this.#socket.destroy();
    for (const pending of this.#pending.splice(0)) pending.reject(why);
    this.#onLost?.();
  }
}

/** Certificates are always verified: otherwise any server could pose as the store and receive every job. */
function tlsOf({ tls }: RedisSettings, { host }: Place) {
  const { servername = host } = tls;
  const files = (['ca', 'cert', 'key'] as const).flatMap((name) => {
    const path = tls[name];
    return path === undefined ? [] : [[name, readPem(path, name)]];
  });
  return { ...Object.fromEntries(files), ...(isName(servername) && { servername }) } as {
    ca?: Buffer;
    cert?: Buffer;
    key?: Buffer;
    servername?: string;
  };
}

/** TLS does not accept an IP address as a server name. */
const isName = (host: string): boolean => !/^[\d.]+$/.test(host) && !host.includes(':');

function readPem(path: string, name: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new LonghaulError('bad-input', `the file of ${name} cannot be read: ${path}`, { cause });
  }
}

/** The prefix of every key: the hash tag keeps a namespace in one slot. */
export const keyPrefix = ({ namespace }: Pick<RedisSettings, 'namespace'>): string => `{${namespace}}`;
