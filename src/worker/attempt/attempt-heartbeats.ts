/**
 * The heartbeat updates of one attempt, on their way to the lease renewer. They are numbered, so that the attempt knows
 * which of them the store has.
 *
 * Progress is sent at most once a second, and directly from the call, so that progress of a handler that never yields
 * the main thread is visible. A checkpoint must be in the store before the attempt is settled; otherwise the next
 * attempt would start from an older one.
 */
import type { HeartbeatPayload, HeartbeatUpdate } from '../lease/lease-renewer.ts';
import { monotonicMs } from '../outcome/deadline.ts';

const PROGRESS_EVERY_MS = 1_000;

interface Waiter {
  readonly number: number;
  resolve(): void;
  reject(error: Error): void;
}

export class AttemptHeartbeats {
  readonly #token: number;
  readonly #send: (update: HeartbeatUpdate) => void;
  #number = 0;
  /** Sent, but not acknowledged by the store. */
  #unacknowledged: HeartbeatPayload = {};
  /** Waits until the last progress is a second old. */
  #progress: NonNullable<HeartbeatPayload['progress']> | null = null;
  #waiters: Waiter[] = [];
  readonly #firstAt = monotonicMs();
  #progressAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(token: number, send: (update: HeartbeatUpdate) => void) {
    this.#token = token;
    this.#send = send;
  }

  progress(percent: number | null, text: string | null): void {
    this.#progress = { percent, text };
    const waitMs = this.#progressAt + PROGRESS_EVERY_MS - monotonicMs();
    if (waitMs <= 0) return this.#sendProgress();
    this.#timer ??= setTimeout(() => this.#sendProgress(), waitMs);
  }

  /** Resolves when the store has it. The caller need not await it: a rejection is never unhandled. */
  sendNow(payload: HeartbeatPayload): Promise<void> {
    const number = this.#sendUpdate(payload, true);
    const sent = new Promise<void>((resolve, reject) => this.#waiters.push({ number, resolve, reject }));
    sent.catch(() => undefined);
    return sent;
  }

  /** The store has every update up to this number. */
  acknowledge(number: number): void {
    if (number === this.#number) this.#unacknowledged = {};
    for (const waiter of this.#waiters) if (waiter.number <= number) waiter.resolve();
    this.#waiters = this.#waiters.filter((waiter) => waiter.number > number);
  }

  /**
   * Sends again what must not be lost with the end of the attempt. Returns null when there is nothing. The last progress
   * of a job that ended at once is not worth a call to the store.
   */
  flush(): Promise<void> | null {
    const payload =
      this.#progress === null ? this.#unacknowledged : { ...this.#unacknowledged, progress: this.#progress };
    const mustBeKept = payload.checkpoint !== undefined || payload.data !== undefined;
    const isWorthIt = payload.progress !== undefined && monotonicMs() - this.#firstAt >= PROGRESS_EVERY_MS;
    return mustBeKept || isWorthIt ? this.sendNow(payload) : null;
  }

  /** Rejects all waiters: no acknowledgement follows. */
  end(error: Error): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters = [];
  }

  #sendProgress(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#progressAt = monotonicMs();
    if (this.#progress !== null) this.#sendUpdate({ progress: this.#progress }, false);
    this.#progress = null;
  }

  #sendUpdate(payload: HeartbeatPayload, isUrgent: boolean): number {
    this.#unacknowledged = { ...this.#unacknowledged, ...payload };
    this.#number += 1;
    this.#send({ token: this.#token, number: this.#number, payload, isUrgent });
    return this.#number;
  }
}
