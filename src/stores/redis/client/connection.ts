/**
 * A connection to the primary: commands with a deadline, and their confirmation by replicas.
 *
 * A connection that hangs, or whose server is no longer the primary, is broken, and its owner opens another.
 * Invariant: no command is ever sent twice. Invariant: a change is confirmed on the connection that carried it; on
 * another, the replicas of another server could confirm a change that they never received.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import type { RedisSettings } from './options.ts';
import { leadsElsewhere } from './problem.ts';
import { type Client, keyPrefix } from './redis-client.ts';

export class Connection {
  readonly #client: Client;
  readonly #settings: RedisSettings;
  /** At most one WAIT is in flight; all changes that are made meanwhile share the next. */
  #waiting: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(client: Client, settings: RedisSettings, onBroken: (connection: Connection) => void) {
    this.#client = client;
    this.#settings = settings;
    client.limitAnswers(settings.commandTimeoutMs);
    client.onErrorReply((error) => leadsElsewhere(error) && onBroken(this));
    client.onLost(() => onBroken(this));
  }

  get place() {
    return this.#client.place;
  }

  /** Sends a command. If it has no answer by the deadline, the connection is broken. */
  readonly send = (command: readonly string[]): Promise<unknown> => this.#client.send(command);

  /** Sends a change, and WAIT right behind it: one round trip for both. An error of the change itself comes first. */
  readonly sendConfirmed = async (command: readonly string[]): Promise<unknown> => {
    const answer = this.send(command);
    const confirmed = this.#confirmed();
    confirmed.catch(() => undefined);
    await answer;
    await confirmed;
    return answer;
  };

  destroy(): void {
    this.#client.destroy();
  }

  /**
   * Resolves when enough replicas have everything that was sent here before this call. A server serves no other command
   * of a connection that waits, so changes that are made at the same time are confirmed together.
   */
  #confirmed(): Promise<void> {
    this.#next ??= (this.#waiting ?? Promise.resolve()).then(
      () => this.#confirm(),
      () => this.#confirm(),
    );
    return this.#next;
  }

  #confirm(): Promise<void> {
    this.#next = null;
    const waiting = this.#awaitReplicas().finally(() => {
      if (this.#waiting === waiting) this.#waiting = null;
    });
    this.#waiting = waiting;
    return waiting;
  }

  /**
   * A server counts from the last write of the connection that asks. A repeated call may have nothing left to write on
   * a new connection, although no replica confirmed the first try; therefore a write of our own comes first.
   */
  async #awaitReplicas(): Promise<void> {
    const { replicas, commandTimeoutMs } = this.#settings;
    // Two of them in turn, and the command behind them, must fit into one deadline.
    const timeoutMs = Math.floor(commandTimeoutMs / 3);
    try {
      const marked = this.send(['HSET', keyPrefix(this.#settings), 'confirming', '1']);
      const reached = this.send(['WAIT', String(replicas), String(timeoutMs)]);
      const [, count] = await Promise.all([marked, reached]);
      if (Number(count) >= replicas) return;
      throw new Error(`${Number(count)} of ${replicas} replicas have it`);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const message = `replicas did not confirm the change; the call may be repeated: ${why}`;
      throw new LonghaulError('outcome-unknown', message, { cause });
    }
  }
}
