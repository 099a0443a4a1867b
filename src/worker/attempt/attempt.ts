/**
 * The state of one attempt that other parts of the worker change: it can be stopped or closed, and it sends heartbeats.
 *
 *     held ──start──▶ running ──outcome──────────────────────────▶ ended
 *       │                └─stop(reason)─▶ stopping ──outcome─────▶ ended
 *       │                                    └──grace is over────▶ ended without an outcome: abandoned
 *       └─stop(reason)───────────────────────────────────────────▶ ended: released
 *
 * `run-attempt.ts` takes it through these states. A handler cannot be killed, only asked to stop: one that ignores its
 * signal is abandoned after its grace. Its code may continue, and keeps a slot (abandoned-attempts.ts).
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { HeartbeatPayload, HeartbeatUpdate } from '../lease/lease-renewer.ts';
import type { WorkerEvent } from '../loop/worker-event.ts';
import { atMost, monotonicMs } from '../outcome/deadline.ts';
import { AttemptHeartbeats } from './attempt-heartbeats.ts';
import type { LimitWatch } from './attempt-limits.ts';
import type { AttemptOutcome } from './run-outcome.ts';
import type { StopReason } from './stop-reason.ts';
import { AttemptAborted } from './stop-reason.ts';

/** The parts of a worker that an attempt uses. */
export interface AttemptHost {
  /** Its runner ends a cancelled attempt itself, and verifies that nothing of it is left. */
  readonly enforcesStop: boolean;
  settingsFor(queue: string): QueueSettings;
  sendHeartbeat(update: HeartbeatUpdate): void;
  emit(event: WorkerEvent): void;
}

/** Where its lease is in the lease table, and until when it is valid as far as this thread knows. */
export interface TableEntry {
  readonly entry: number;
  readonly validUntil: number;
}

/** How long an ended attempt waits until the store has its last checkpoint. */
const FLUSH_DEADLINE_MS = 5_000;

export class Attempt {
  readonly job: RunningJob;
  /** Of its lease in the lease table. */
  readonly entry: number;
  /** Resolves to the outcome, or to null when the grace is over first. Stays pending when the attempt is left to the next process. */
  readonly outcome: Promise<AttemptOutcome | null>;
  /** Resolves `outcome`. The first call wins. May be detached. */
  readonly end: (outcome: AttemptOutcome | null) => void;
  /** What its runner returned; null until it is started. */
  work: Promise<AttemptOutcome> | null = null;
  #validUntil: number;
  readonly #host: AttemptHost;
  #state: 'held' | 'running' | 'closed' = 'held';
  #stopReason: StopReason | null = null;
  #controller: AbortController | null = null;
  #onStop: ((reason: StopReason) => void) | null = null;
  #heartbeats: AttemptHeartbeats | null = null;
  #limits: LimitWatch | null = null;
  #grace: NodeJS.Timeout | null = null;
  #graceEndsAt = Number.POSITIVE_INFINITY;

  constructor(job: RunningJob, { entry, validUntil }: TableEntry, host: AttemptHost) {
    this.job = job;
    this.entry = entry;
    this.#validUntil = validUntil;
    this.#host = host;
    let end: Attempt['end'] = () => undefined;
    this.outcome = new Promise((resolve) => {
      end = resolve;
    });
    this.end = end;
  }

  /** Until when the lease is valid as far as this thread knows. The lease renewer may have renewed it. */
  get validUntil(): number {
    return this.#validUntil;
  }

  get isLeaseOver(): boolean {
    return monotonicMs() >= this.#validUntil;
  }

  get canStart(): boolean {
    return this.#state === 'held' && this.#stopReason === null;
  }

  get isClosed(): boolean {
    return this.#state === 'closed';
  }

  get stopReason(): StopReason | null {
    return this.#stopReason;
  }

  /** Null for an attempt without limits. */
  get limits(): LimitWatch | null {
    return this.#limits;
  }

  /** Created on first use: most short handlers never read it. */
  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#stopReason !== null) this.#controller.abort(new AttemptAborted(this.#stopReason));
    }
    return this.#controller.signal;
  }

  /** Calls the listener when the attempt is asked to stop; at once if it was. The last listener counts. */
  onStop(listener: (reason: StopReason) => void): void {
    this.#onStop = listener;
    if (this.#stopReason !== null) listener(this.#stopReason);
  }

  start(limits: LimitWatch | null): void {
    this.#state = 'running';
    this.#limits = limits;
  }

  /** Asks the handler to stop. The first reason wins, but a later call may shorten the grace. */
  stop(reason: StopReason, graceMs = this.#host.settingsFor(this.job.queue).graceMs): void {
    if (this.isClosed) return;
    if (!this.#waitsForOutcome(reason)) this.#limitGrace(graceMs);
    if (reason === 'lease-lost') this.#heartbeats?.end(new AttemptAborted(reason));
    if (this.#stopReason !== null) return;
    this.#stopReason = reason;
    this.#host.emit({ type: 'stopping', job: this.job, reason });
    if (this.#state === 'held') this.end({ kind: 'release', reason: 'it was stopped before it began' });
    else {
      this.#controller?.abort(new AttemptAborted(reason));
      this.#onStop?.(reason);
    }
  }

  /** Ends timers and heartbeats. The attempt is settled now, or left to the next process; its work may continue. */
  close(): void {
    this.#state = 'closed';
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#limits?.end();
    this.#heartbeats?.end(new Error('the attempt is over'));
  }

  /** The store has every heartbeat update up to this number. */
  acknowledge(number: number): void {
    this.#heartbeats?.acknowledge(number);
  }

  /** Asks the store for the state of the lease. Unlike `heartbeat`, this is no sign of life of the handler. */
  checkLease(): Promise<void> {
    return this.isClosed ? rejected(new Error('the attempt is over')) : this.#sender().sendNow({});
  }

  /**
   * Resolves when the lease is held for certain: at once while it cannot be over by the clock of this thread, otherwise
   * when the store has renewed it. Rejects when it was lost, or when the attempt is over.
   */
  async confirmLease(): Promise<void> {
    if (this.#stopReason === 'lease-lost') throw new AttemptAborted('lease-lost');
    if (!this.isClosed && !this.isLeaseOver) return;
    const sentAt = monotonicMs();
    await this.checkLease();
    this.#validUntil = sentAt + this.job.lease.ms;
  }

  progress(percent: number | null, text: string | null): void {
    this.#limits?.alive();
    if (!this.isClosed) this.#sender().progress(percent, text);
  }

  /** Sends a heartbeat of the handler at once. Resolves when the store has it. */
  heartbeat(payload: HeartbeatPayload): Promise<void> {
    this.#limits?.alive();
    return this.isClosed ? rejected(new Error('the attempt is over')) : this.#sender().sendNow(payload);
  }

  /** Waits until the store has the last checkpoint, at most a few seconds. Returns null when nothing has to be sent. */
  flushHeartbeats(): Promise<void> | null {
    if (this.#stopReason === 'lease-lost') return null;
    const flushed = this.#heartbeats?.flush() ?? null;
    return flushed === null ? null : atMost(flushed, FLUSH_DEADLINE_MS);
  }

  /** Without a grace: an unavailable store may come back, and a runner that enforces the stop verifies it first. */
  #waitsForOutcome(reason: StopReason): boolean {
    return reason === 'unreachable' || (reason === 'cancel' && this.#host.enforcesStop);
  }

  /** A later grace never ends after an earlier one. */
  #limitGrace(graceMs: number): void {
    const endsAt = monotonicMs() + graceMs;
    if (endsAt >= this.#graceEndsAt) return;
    this.#graceEndsAt = endsAt;
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#grace = setTimeout(() => this.#graceIsOver(), graceMs);
  }

  /** Abandons the handler, or the last heartbeat of one that has ended. */
  #graceIsOver(): void {
    this.end(null);
    this.#heartbeats?.end(new Error('the grace is over'));
  }

  #sender(): AttemptHeartbeats {
    this.#heartbeats ??= new AttemptHeartbeats(this.job.lease.token, this.#host.sendHeartbeat);
    return this.#heartbeats;
  }
}

/** Returns a rejected promise that does not raise an unhandled rejection. */
function rejected(error: Error): Promise<void> {
  const promise = Promise.reject<void>(error);
  promise.catch(() => undefined);
  return promise;
}
