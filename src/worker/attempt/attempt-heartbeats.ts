/**
 * What an attempt says while it runs, on its way to the renewer: numbered, so that it is known what the store has.
 *
 * Progress goes out at most once a second, and straight from the call, so that a handler which never lets go of the
 * main thread is seen to move. A checkpoint must be in the store before the attempt is settled, else the next
 * attempt would begin from an older one.
 */
import type { Saying, Words } from '../lease/lease-renewer.ts';
import { monotonicMs } from '../outcome/monotonic.ts';

const PROGRESS_EVERY_MS = 1_000;

interface Waiter {
  readonly number: number;
  resolve(): void;
  reject(error: Error): void;
}

export class AttemptHeartbeats {
  readonly #token: number;
  readonly #send: (saying: Saying) => void;
  #number = 0;
  /** What was sent and the store may not have yet. */
  #unsaid: Words = {};
  /** What waits for its second to be over. */
  #progress: NonNullable<Words['progress']> | null = null;
  #waiters: Waiter[] = [];
  readonly #firstAt = monotonicMs();
  #progressAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(token: number, send: (saying: Saying) => void) {
    this.#token = token;
    this.#send = send;
  }

  progress(percent: number | null, text: string | null): void {
    this.#progress = { percent, text };
    const waitMs = this.#progressAt + PROGRESS_EVERY_MS - monotonicMs();
    if (waitMs <= 0) return this.#sendProgress();
    this.#timer ??= setTimeout(() => this.#sendProgress(), waitMs);
  }

  /** Resolved when the store has it. Nobody needs to wait for that: a rejection is never unhandled. */
  sayNow(words: Words): Promise<void> {
    const number = this.#say(words, true);
    const said = new Promise<void>((resolve, reject) => this.#waiters.push({ number, resolve, reject }));
    said.catch(() => undefined);
    return said;
  }

  /** The store has everything up to this number. */
  heard(number: number): void {
    if (number === this.#number) this.#unsaid = {};
    for (const waiter of this.#waiters) if (waiter.number <= number) waiter.resolve();
    this.#waiters = this.#waiters.filter((waiter) => waiter.number > number);
  }

  /**
   * Says again what must not get lost with the end of the attempt. Null when there is nothing. The last progress of a
   * job that was over in a moment is not worth a call to the store.
   */
  flush(): Promise<void> | null {
    const words = this.#progress === null ? this.#unsaid : { ...this.#unsaid, progress: this.#progress };
    const mustBeKept = words.checkpoint !== undefined || words.data !== undefined;
    const isWorthIt = words.progress !== undefined && monotonicMs() - this.#firstAt >= PROGRESS_EVERY_MS;
    return mustBeKept || isWorthIt ? this.sayNow(words) : null;
  }

  /** Nothing more will be heard. */
  end(error: Error): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters = [];
  }

  #sendProgress(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#progressAt = monotonicMs();
    if (this.#progress !== null) this.#say({ progress: this.#progress }, false);
    this.#progress = null;
  }

  #say(words: Words, isUrgent: boolean): number {
    this.#unsaid = { ...this.#unsaid, ...words };
    this.#number += 1;
    this.#send({ token: this.#token, number: this.#number, words, isUrgent });
    return this.#number;
  }
}
