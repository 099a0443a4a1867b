/**
 * The answers and events of transactions that were committed without an fsync, until one follows.
 *
 *     settlement and claim ──commit──▶ claim answered ──▶ next settlement and claim ──commit──▶ … ──fsync──▶ released
 *                                             └──none within WAIT_MS, a read, another call, MAX_HELD_MS──▶ fsync
 *
 * A worker with one slot settles a short job a fraction of a millisecond after its claim was answered. So the fsync is
 * put off for a moment, and the settlements of several jobs share it (docs/decisions/0032-shared-fsyncs.md). The caller of
 * an add waits for its answer: its fsync is not put off.
 *
 * Invariant: a held answer is sent, and a held event is published, only after an fsync that succeeded.
 */
import type { StoreEvent } from '../../core/ports/job-store.ts';
import type { Call } from './engine/engine-clients.ts';
import type { CallResult } from './engine/group-writer.ts';

/** How long the fsync waits for the next transaction, with an event loop that does not sleep: timers are too coarse. */
const WAIT_MS = 0.2;
/** The longest time from the first held answer to the fsync. */
const MAX_HELD_MS = 1;
/** After waits in vain, at most so many transactions are synced at once: their jobs take longer than the wait. */
const MAX_AT_ONCE = 64;

export interface HeldAnswersOptions {
  /** Syncs what is pending. Returns the error for held calls if that failed. */
  readonly sync: () => Error | undefined;
  /** Whether calls have arrived that are not performed yet. */
  readonly hasCalls: () => boolean;
  readonly answer: (call: Call, result: CallResult) => void;
  readonly publish: (events: readonly StoreEvent[]) => void;
  /** Sends the answers. */
  readonly reply: () => void;
}

export class HeldAnswers {
  readonly #options: HeldAnswersOptions;
  #answers: { readonly call: Call; readonly result: CallResult }[] = [];
  #events: StoreEvent[] = [];
  #firstAt = 0;
  #waitUntil = 0;
  #isWaiting = false;
  /** Whether a caller waits for an answer: a worker does not wait for that of a settlement. */
  #isUrgent = false;
  /** Waits in vain since one that was not. */
  #vain = 0;
  /** Transactions to sync at once before the next wait. */
  #atOnce = 0;

  constructor(options: HeldAnswersOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#answers.length === 0;
  }

  hold(call: Call, result: CallResult): void {
    if (this.isEmpty) this.#firstAt = performance.now();
    this.#answers.push({ call, result });
    this.#isUrgent ||= call.request.name !== 'settle';
  }

  holdEvents(events: readonly StoreEvent[]): void {
    this.#events.push(...events);
  }

  /** Called after each transaction, when its other answers are sent. */
  syncSoon(): void {
    if (this.isEmpty) return;
    const now = performance.now();
    this.#waitUntil = Math.min(now + WAIT_MS, this.#firstAt + MAX_HELD_MS);
    if (this.#atOnce > 0) this.#atOnce -= 1;
    else if (now < this.#waitUntil && !this.#isUrgent) return this.#wait();
    this.#releaseNow();
  }

  /** Syncs, and then answers and publishes what was held. If that fails, the calls get an error, which it returns. */
  release(): Error | undefined {
    if (this.isEmpty) return undefined;
    const error = this.#options.sync();
    const answers = this.#answers;
    const events = this.#events;
    this.#answers = [];
    this.#events = [];
    this.#isUrgent = false;
    for (const { call, result } of answers) this.#options.answer(call, error === undefined ? result : { error });
    if (error === undefined && events.length > 0) this.#options.publish(events);
    return error;
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setImmediate(this.#turn);
  }

  readonly #turn = (): void => {
    this.#isWaiting = false;
    // A call that has arrived is performed first, and `syncSoon` follows.
    if (this.isEmpty) return;
    if (this.#options.hasCalls()) {
      this.#vain = 0;
      return;
    }
    if (performance.now() < this.#waitUntil) return this.#wait();
    this.#vain += 1;
    this.#atOnce = Math.min(2 ** this.#vain - 2, MAX_AT_ONCE);
    this.#releaseNow();
  };

  #releaseNow(): void {
    this.release();
    this.#options.reply();
  }
}
