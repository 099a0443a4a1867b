/**
 * One connection to the primary as its users see it: commands with a deadline, and confirmations by replicas.
 *
 * A lane that hangs, or that leads to a server which is the primary no longer, is broken: whoever made it makes another.
 * Invariant: no command is ever sent a second time. Invariant: a change is confirmed on the connection that it went
 * over; on another, the replicas of another server would answer for a change that it never had.
 */
import { LonghaulError } from '../../../core/ports/errors.ts';
import { keyPrefix, type Wire } from './client-library.ts';
import { DeadlineError, within } from './deadline.ts';
import type { RedisSettings } from './options.ts';
import { leadsElsewhere } from './problem.ts';

export class Lane {
  readonly #wire: Wire;
  readonly #settings: RedisSettings;
  readonly #onBroken: (lane: Lane) => void;
  /** At most one WAIT is under way; all that asks meanwhile shares the next. */
  #underWay: Promise<void> | null = null;
  #next: Promise<void> | null = null;

  constructor(wire: Wire, settings: RedisSettings, onBroken: (lane: Lane) => void) {
    this.#wire = wire;
    this.#settings = settings;
    this.#onBroken = onBroken;
    wire.onLost(() => onBroken(this));
  }

  get place() {
    return this.#wire.place;
  }

  async send(args: readonly string[]): Promise<unknown> {
    try {
      return await within(this.#settings.commandTimeoutMs, this.#wire.send(args));
    } catch (error) {
      if (error instanceof DeadlineError || leadsElsewhere(error)) this.#onBroken(this);
      throw error;
    }
  }

  /**
   * Resolved when as many replicas as are wanted have everything that was sent here before this call. A server works
   * on nothing else of a connection that waits, so changes that come together are confirmed together.
   */
  confirmed(): Promise<void> {
    this.#next ??= (this.#underWay ?? Promise.resolve()).then(
      () => this.#confirm(),
      () => this.#confirm(),
    );
    return this.#next;
  }

  destroy(): void {
    this.#wire.destroy();
  }

  #confirm(): Promise<void> {
    this.#next = null;
    const waiting = this.#awaitReplicas().finally(() => {
      if (this.#underWay === waiting) this.#underWay = null;
    });
    this.#underWay = waiting;
    return waiting;
  }

  /**
   * A server counts from the last write of the connection that asks. A repeated call may have nothing left to write on
   * a new connection, though nobody confirmed what its first try wrote; so there is a write of our own before.
   */
  async #awaitReplicas(): Promise<void> {
    const { replicas, commandTimeoutMs } = this.#settings;
    // Two of them in turn, and the command behind, must fit into one deadline.
    const patienceMs = Math.floor(commandTimeoutMs / 3);
    try {
      const marked = this.send(['HSET', keyPrefix(this.#settings), 'confirming', '1']);
      const reached = this.send(['WAIT', String(replicas), String(patienceMs)]);
      const [, count] = await Promise.all([marked, reached]);
      if (Number(count) >= replicas) return;
      throw new Error(`${Number(count)} of ${replicas} replicas have it`);
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      const words = `replicas did not confirm the change; the call may be repeated: ${why}`;
      throw new LonghaulError('outcome-unknown', words, { cause });
    }
  }
}
