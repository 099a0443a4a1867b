/**
 * A second connection to the primary, on which one claim at a time waits for a job:
 *
 *     BZPOPMIN marker:<queue> … ─┐ in one write
 *     EVALSHA claim             ─┘
 *
 * The server performs the claim as soon as the pop returns: an add has set a marker, the time is over, or `end` unblocked
 * it by CLIENT UNBLOCK on the ordinary connection.
 * Invariant: the failure of a claim is reported when the server can no longer perform it. Otherwise a repeated request could
 * be answered without jobs, and the first one could lease a job afterwards.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { DeadlineError, within } from './deadline.ts';
import { errorWord, isForbidden, leadsElsewhere } from './problem.ts';
import type { Client } from './redis-client.ts';

/** A claim behind a pop. */
export interface BlockedClaim {
  readonly markers: readonly string[];
  readonly ms: number;
  readonly command: readonly string[];
}

export class BlockingConnection {
  readonly #client: Client;
  readonly #id: string;
  readonly #timeoutMs: number;
  /** The ordinary connection to the same server. */
  readonly beside: Connection;
  /** Whether the server refused a command that this needs: by its ACL, or because a proxy does not know it. */
  isRefused = false;
  isLost = false;
  /** The pop that has no answer yet. */
  #pop: Promise<unknown> | null = null;

  private constructor(client: Client, beside: Connection, { id, timeoutMs }: { id: string; timeoutMs: number }) {
    this.#client = client;
    this.#id = id;
    this.#timeoutMs = timeoutMs;
    this.beside = beside;
    client.onLost(() => {
      this.isLost = true;
    });
  }

  /** Learns the id of the client, and whether the server allows to unblock it. Destroys the client if it fails. */
  static async open(client: Client, beside: Connection, timeoutMs: number): Promise<BlockingConnection> {
    try {
      const id = String(await within(timeoutMs, client.send(['CLIENT', 'ID'])));
      await beside.send(['CLIENT', 'UNBLOCK', id]);
      return new BlockingConnection(client, beside, { id, timeoutMs });
    } catch (error) {
      client.destroy();
      throw error;
    }
  }

  /** Returns the answer to the claim. Its deadline begins when the pop is answered. */
  async claim({ markers, ms, command }: BlockedClaim): Promise<unknown> {
    const endAt = performance.now() + ms;
    const pop = this.#client.send(['BZPOPMIN', ...markers, (ms / 1_000).toFixed(3)]);
    const answer = this.#client.send(command);
    answer.catch(() => undefined);
    this.#pop = pop;
    try {
      await within(ms + this.#timeoutMs, pop).catch((error: unknown) => this.#popFailed(error));
      this.#pop = null;
      return await within(this.#timeoutMs, answer);
    } catch (error) {
      this.#pop = null;
      if (errorWord(error) === '' || leadsElsewhere(error)) this.destroy();
      if (errorWord(error) === '') await this.#untilOver(endAt);
      throw error;
    }
  }

  /**
   * Ends the wait. Returns whether the claim is performed because of it, and not earlier. If the pop has not reached the
   * server yet, tries again.
   */
  async end(): Promise<boolean> {
    const pop = this.#pop;
    try {
      for (let delayMs = 1; pop !== null && this.#pop === pop; delayMs *= 2) {
        if (await this.#unblock()) return true;
        await sleep(delayMs);
      }
    } catch (error) {
      // Without the ordinary connection the wait ends by its time.
      this.isRefused ||= isForbidden(error);
    }
    return false;
  }

  destroy(): void {
    this.isLost = true;
    this.#client.destroy();
  }

  /** The claim behind a refused pop is performed at once. */
  #popFailed(error: unknown): void {
    if (error instanceof DeadlineError) throw error;
    this.isRefused ||= isForbidden(error);
  }

  /** Returns false if the client was not blocked. */
  async #unblock(): Promise<boolean> {
    return Number(await this.beside.send(['CLIENT', 'UNBLOCK', this.#id])) === 1;
  }

  /** Resolves when the server has performed or dropped the claim of a lost connection. */
  async #untilOver(endAt: number): Promise<void> {
    const isOver = sleep(Math.max(0, endAt - performance.now()));
    await Promise.race([this.#unblock().catch(() => isOver), isOver]);
  }
}
