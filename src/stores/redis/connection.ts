/**
 * The way to the server: commands with a deadline, and a new connection when the old one hangs.
 *
 * A lost connection is made again by the library. One that does not answer in time is given up here, since nothing
 * else would notice a black hole. Invariant: no command is ever sent a second time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LonghaulError } from '../../core/errors.ts';
import { type Library, loadLibrary, openCluster, openNode, reconnectDelayMs, type Wire } from './client-library.ts';
import type { RedisSettings } from './options.ts';
import { type Asked, DeadlineError, toProblem } from './problem.ts';

export class Connection {
  readonly #library: Library;
  readonly #settings: RedisSettings;
  readonly #isCluster: boolean;
  readonly #stop = new AbortController();
  #wire: Wire | null;
  /** By channel. */
  readonly #subscribers = new Map<string, Wire>();

  private constructor(library: Library, settings: RedisSettings, first: { wire: Wire; isCluster: boolean }) {
    this.#library = library;
    this.#settings = settings;
    this.#wire = first.wire;
    this.#isCluster = first.isCluster;
  }

  /** `facts` is what INFO says; empty where it is forbidden. */
  static async open(settings: RedisSettings): Promise<{ connection: Connection; facts: string }> {
    const library = await loadLibrary();
    try {
      const node = await openNode(library, settings);
      const facts = await within(settings.commandTimeoutMs, factsOf(node, library));
      const isCluster = facts.includes('cluster_enabled:1');
      if (isCluster) node.destroy();
      const wire = isCluster ? await openCluster(library, settings) : node;
      return { connection: new Connection(library, settings, { wire, isCluster }), facts };
    } catch (error) {
      throw toProblem(error, library, 'opening');
    }
  }

  async send(args: readonly string[]): Promise<unknown> {
    const wire = this.#wire;
    if (this.#stop.signal.aborted) throw new LonghaulError('store-closed', 'the store is closed');
    if (wire === null) throw new LonghaulError('store-unavailable', 'Redis is away; connecting again');
    try {
      return await within(this.#settings.commandTimeoutMs, wire.send(args));
    } catch (error) {
      if (error instanceof DeadlineError && this.#wire === wire) this.#giveUp(wire);
      throw error;
    }
  }

  problem(error: unknown, asked: Asked): LonghaulError {
    return toProblem(error, this.#library, asked);
  }

  /** On a connection of its own. Resolved when it stands; tried again until then, since nobody else would. */
  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    for (let tries = 0; ; tries += 1) {
      const wire = await this.#openPatiently();
      if (wire === null) return;
      this.#subscribers.set(channel, wire);
      if (await this.#hasSubscribed(wire, channel, listener)) return;
      wire.destroy();
      await this.#pause(tries);
    }
  }

  async #hasSubscribed(wire: Wire, channel: string, listener: (message: string) => void): Promise<boolean> {
    try {
      await within(this.#settings.commandTimeoutMs, wire.subscribe(channel, listener));
      return true;
    } catch {
      return false;
    }
  }

  close(): void {
    this.#stop.abort();
    this.#wire?.destroy();
    for (const wire of this.#subscribers.values()) wire.destroy();
    this.#wire = null;
    this.#subscribers.clear();
  }

  #giveUp(wire: Wire): void {
    this.#wire = null;
    wire.destroy();
    void this.#openPatiently().then((next) => {
      this.#wire = next;
    });
  }

  /** Null when the store was closed meanwhile. */
  async #openPatiently(): Promise<Wire | null> {
    const open = this.#isCluster ? openCluster : openNode;
    for (let tries = 0; !this.#stop.signal.aborted; tries += 1) {
      const wire = await open(this.#library, this.#settings).catch(() => null);
      if (wire !== null && !this.#stop.signal.aborted) return wire;
      wire?.destroy();
      await this.#pause(tries);
    }
    return null;
  }

  #pause(tries: number): Promise<void> {
    return sleep(reconnectDelayMs(tries), undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}

async function factsOf(wire: Wire, library: Library): Promise<string> {
  try {
    return String(await wire.send(['INFO']));
  } catch (error) {
    if (error instanceof library.ErrorReply && error.message.startsWith('NOPERM')) return '';
    throw error;
  }
}

async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new DeadlineError(`no answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([answer, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
