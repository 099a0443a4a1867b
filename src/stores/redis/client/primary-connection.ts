/**
 * The way to the primary, made again whenever it is lost: with a pause that grows, and to wherever the primary is then.
 *
 * While there is none, calls end at once and say so; nothing waits here to be sent later.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../../core/ports/errors.ts';
import { type Layout, type Place, placeText } from './address.ts';
import { type Library, loadLibrary, type Wire, wiresOf } from './client-library.ts';
import { Lane } from './connection.ts';
import { within } from './deadline.ts';
import type { RedisSettings } from './options.ts';
import { Primary } from './primary.ts';
import { type Asked, toProblem } from './problem.ts';

const RECONNECT_MS = { first: 50, most: 2_000 };
/** How often Sentinels are asked whether the primary is still where we are: one that is cut off from them does not know. */
const LOOK_ROUND_MS = 5_000;

interface Parts {
  readonly library: Library;
  readonly settings: RedisSettings;
  readonly primary: Primary;
}

export class Connection {
  readonly #parts: Parts;
  readonly #stop = new AbortController();
  #lane: Lane | null = null;
  /** Why the last try to connect came to nothing. */
  #trouble: LonghaulError | null = null;
  readonly #subscribers = new Map<string, Wire>();

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The first try is the only one, so that whoever opens a store hears why. `facts` is what INFO says of the server. */
  static async open(settings: RedisSettings): Promise<{ connection: Connection; facts: string }> {
    const library = await loadLibrary();
    const primary = new Primary(wiresOf(library, settings), settings);
    const connection = new Connection({ library, settings, primary });
    try {
      const { wire, facts } = await primary.open();
      connection.#use(wire);
      if (primary.layout === 'sentinel') void connection.#lookRound();
      return { connection, facts };
    } catch (error) {
      connection.close();
      throw toProblem(error, library, 'opening');
    }
  }

  get layout(): Layout {
    return this.#parts.primary.layout;
  }

  /** The present way. What belongs together goes over one of them. */
  lane(): Lane {
    if (this.#stop.signal.aborted) throw new LonghaulError('store-closed', 'the store is closed');
    if (this.#lane !== null) return this.#lane;
    if (this.#trouble?.code === 'store-incompatible') throw this.#trouble;
    const why = this.#trouble === null ? '' : `: ${this.#trouble.message}`;
    throw new LonghaulError('store-unavailable', `Redis is away; connecting again${why}`);
  }

  async send(args: readonly string[]): Promise<unknown> {
    return this.lane().send(args);
  }

  problem(error: unknown, asked: Asked): LonghaulError {
    return toProblem(error, this.#parts.library, asked);
  }

  /**
   * On a connection of its own. Resolved when it stands; made again until the store is closed, since nobody else would.
   * `onAgain` is called whenever it stands again: messages of the time before are lost.
   */
  async subscribe(channel: string, listener: (message: string) => void, onAgain: () => void): Promise<void> {
    const wire = await this.#openPatiently(async (opened) => {
      await within(this.#parts.settings.commandTimeoutMs, opened.subscribe(channel, listener));
    });
    if (wire === null) return;
    if (this.#stop.signal.aborted) return wire.destroy();
    this.#subscribers.set(channel, wire);
    wire.onLost(() => void this.#subscribeAgain(channel, listener, onAgain));
  }

  async #subscribeAgain(channel: string, listener: (message: string) => void, onAgain: () => void): Promise<void> {
    await this.subscribe(channel, listener, onAgain);
    if (!this.#stop.signal.aborted) onAgain();
  }

  close(): void {
    this.#stop.abort();
    this.#lane?.destroy();
    for (const wire of this.#subscribers.values()) wire.destroy();
    this.#lane = null;
    this.#subscribers.clear();
  }

  #use(wire: Wire): void {
    if (this.#stop.signal.aborted) return wire.destroy();
    this.#trouble = null;
    this.#lane = new Lane(wire, this.#parts.settings, (lane) => this.#giveUp(lane));
  }

  #giveUp(lane: Lane): void {
    if (this.#lane !== lane) return;
    this.#lane = null;
    lane.destroy();
    void this.#pause(0)
      .then(() => this.#openPatiently(async () => undefined))
      .then((wire) => wire !== null && this.#use(wire));
  }

  /** A wire that is ready for its use, or null when the store was closed meanwhile. */
  async #openPatiently(prepare: (wire: Wire) => Promise<void>): Promise<Wire | null> {
    for (let tries = 0; !this.#stop.signal.aborted; tries += 1) {
      const wire = await this.#tryToOpen(prepare);
      if (wire !== null && !this.#stop.signal.aborted) return wire;
      wire?.destroy();
      await this.#pause(tries);
    }
    return null;
  }

  async #tryToOpen(prepare: (wire: Wire) => Promise<void>): Promise<Wire | null> {
    let wire: Wire | null = null;
    try {
      ({ wire } = await this.#parts.primary.open());
      await prepare(wire);
      return wire;
    } catch (error) {
      wire?.destroy();
      this.#trouble = this.problem(error, 'opening');
      return null;
    }
  }

  async #lookRound(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      await sleep(withJitter(LOOK_ROUND_MS), undefined, { signal: this.#stop.signal, ref: false }).catch(
        () => undefined,
      );
      const lane = this.#lane;
      if (lane === null) continue;
      const [place] = await this.#parts.primary.places();
      if (place !== undefined && !isSame(place, lane.place)) this.#giveUp(lane);
    }
  }

  #pause(tries: number): Promise<void> {
    return sleep(reconnectDelayMs(tries), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

const isSame = (a: Place, b: Place): boolean => placeText(a) === placeText(b);
const withJitter = (ms: number): number => Math.round(ms * (0.75 + Math.random() / 2));

/** How long to wait before another try to connect, with some jitter so that not all come back at once. */
export function reconnectDelayMs(tries: number): number {
  return withJitter(Math.min(RECONNECT_MS.first * 2 ** Math.min(tries, 10), RECONNECT_MS.most));
}
