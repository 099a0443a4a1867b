/**
 * The connection to the primary, opened again whenever it is lost: after a growing delay, and to the present primary.
 *
 * While there is none, calls fail at once with the reason; no command is queued here.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { type Layout, type Place, placeText } from './address.ts';
import { Connection } from './connection.ts';
import { within } from './deadline.ts';
import type { RedisSettings } from './options.ts';
import { Primary } from './primary.ts';
import { type Purpose, toProblem } from './problem.ts';
import { type Client, clientsOf } from './redis-client.ts';

const RECONNECT_MS = { first: 50, max: 2_000 };
/** How often Sentinels are asked for the primary: one that is cut off from them does not know that it was replaced. */
const DISCOVERY_MS = 5_000;

interface Parts {
  readonly settings: RedisSettings;
  readonly primary: Primary;
}

export class PrimaryConnection {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  #connection: Connection | null = null;
  /** Why the last try to connect failed. */
  #problem: LonghaulError | null = null;
  readonly #subscribers = new Map<string, Client>();

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Tries once, so that the caller learns why it fails. `facts` is the answer of INFO. */
  static async open(settings: RedisSettings): Promise<{ connection: PrimaryConnection; facts: string }> {
    const primary = new Primary(clientsOf(settings), settings);
    const connection = new PrimaryConnection({ settings, primary });
    try {
      const { client, facts } = await primary.open();
      connection.#use(client);
      if (primary.layout === 'sentinel') void connection.#watchSentinels();
      return { connection, facts };
    } catch (error) {
      connection.close();
      throw toProblem(error, 'opening');
    }
  }

  get layout(): Layout {
    return this.#parts.primary.layout;
  }

  /** Returns the present connection, or throws why there is none. */
  current(): Connection {
    if (this.#stop.signal.aborted) throw new LonghaulError('store-closed', 'the store is closed');
    if (this.#connection !== null) return this.#connection;
    if (this.#problem?.code === 'store-incompatible') throw this.#problem;
    const why = this.#problem === null ? '' : `: ${this.#problem.message}`;
    throw new LonghaulError('store-unavailable', `Redis is unavailable; connecting again${why}`);
  }

  async send(args: readonly string[]): Promise<unknown> {
    return this.current().send(args);
  }

  /** Opens another client of the server that is the primary now. Tries once, and rejects if the primary has moved. */
  async openBeside(current: Connection): Promise<Client> {
    const { client } = await this.#parts.primary.open();
    if (this.#connection === current && isSame(client.place, current.place)) return client;
    client.destroy();
    throw new LonghaulError('store-unavailable', 'the primary has moved');
  }

  problem(error: unknown, purpose: Purpose): LonghaulError {
    return toProblem(error, purpose);
  }

  /**
   * Subscribes on a connection of its own. Resolves when the subscription is active, and renews it until the store is
   * closed. `onAgain` is called after each renewal: messages may have been lost before.
   */
  async subscribe(channel: string, listener: (message: string) => void, onAgain: () => void): Promise<void> {
    const client = await this.#openWithRetries(async (opened) => {
      await within(this.#parts.settings.commandTimeoutMs, opened.subscribe(channel, listener));
    });
    if (client === null) return;
    if (this.#stop.signal.aborted) return client.destroy();
    this.#subscribers.set(channel, client);
    client.onLost(() => void this.#subscribeAgain(channel, listener, onAgain));
  }

  async #subscribeAgain(channel: string, listener: (message: string) => void, onAgain: () => void): Promise<void> {
    await this.subscribe(channel, listener, onAgain);
    if (!this.#stop.signal.aborted) onAgain();
  }

  close(): void {
    this.#stop.abort();
    this.#connection?.destroy();
    for (const client of this.#subscribers.values()) client.destroy();
    this.#connection = null;
    this.#subscribers.clear();
  }

  #use(client: Client): void {
    if (this.#stop.signal.aborted) return client.destroy();
    this.#problem = null;
    this.#connection = new Connection(client, this.#parts.settings, (broken) => this.#replace(broken));
  }

  #replace(broken: Connection): void {
    if (this.#connection !== broken) return;
    this.#connection = null;
    broken.destroy();
    void this.#pause(0)
      .then(() => this.#openWithRetries(async () => undefined))
      .then((client) => client !== null && this.#use(client));
  }

  /** Returns a client that `prepare` accepted, or null when the store was closed meanwhile. */
  async #openWithRetries(prepare: (client: Client) => Promise<void>): Promise<Client | null> {
    for (let tries = 0; !this.#stop.signal.aborted; tries += 1) {
      const client = await this.#tryToOpen(prepare);
      if (client !== null && !this.#stop.signal.aborted) return client;
      client?.destroy();
      await this.#pause(tries);
    }
    return null;
  }

  async #tryToOpen(prepare: (client: Client) => Promise<void>): Promise<Client | null> {
    let client: Client | null = null;
    try {
      ({ client } = await this.#parts.primary.open());
      await prepare(client);
      return client;
    } catch (error) {
      client?.destroy();
      this.#problem = this.problem(error, 'opening');
      return null;
    }
  }

  async #watchSentinels(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(withJitter(DISCOVERY_MS), undefined, { signal: this.#stop.signal, ref: false }).catch(
        () => undefined,
      );
      const current = this.#connection;
      if (current === null) continue;
      const [place] = await this.#parts.primary.places();
      if (place !== undefined && !isSame(place, current.place)) this.#replace(current);
    }
  }

  #pause(tries: number): Promise<void> {
    return sleep(reconnectDelayMs(tries), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

const isSame = (a: Place, b: Place): boolean => placeText(a) === placeText(b);
const withJitter = (ms: number): number => Math.round(ms * (0.75 + Math.random() / 2));

/** Returns the delay before another try to connect, with jitter so that not all clients connect at once. */
export function reconnectDelayMs(tries: number): number {
  return withJitter(Math.min(RECONNECT_MS.first * 2 ** Math.min(tries, 10), RECONNECT_MS.max));
}
