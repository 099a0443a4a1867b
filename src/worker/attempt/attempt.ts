/**
 * One attempt, start to finish: the runner is called, may be told to stop, and its end is told exactly once.
 *
 *     held ──start──▶ running ──outcome──────────────────────────▶ ended
 *       │                └─stop(reason)─▶ stopping ──outcome─────▶ ended
 *       │                                    └──grace is over────▶ ended without an outcome: abandoned
 *       └─stop(reason), or its claim was answered too late───────▶ ended: given back
 *
 * What an end means is not decided here but in to-settlement.ts. A handler cannot be killed, only asked: one that
 * does not heed its signal is abandoned after its grace, and its code may go on.
 */
import { failureOf, isFinal } from '../../core/job/failure.ts';
import type { RunningJob } from '../../core/job/job.ts';
import type { QueueSettings } from '../../core/settings/settings.ts';
import type { Saying, Words } from '../lease/lease-renewer.ts';
import { atMost } from '../outcome/deadline.ts';
import { monotonicMs } from '../outcome/monotonic.ts';
import type { Ending } from '../outcome/to-settlement.ts';
import type { AttemptWays } from './attempt-context.ts';
import { ContextOfAttempt } from './attempt-context.ts';
import { AttemptHeartbeats } from './attempt-heartbeats.ts';
import type { LimitWatch } from './attempt-limits.ts';
import { limitsOf, watchLimits } from './attempt-limits.ts';
import type { RunAttempt, RunOutcome } from './run-outcome.ts';
import type { StopReason } from './stop-reason.ts';
import { AttemptAborted } from './stop-reason.ts';

/** What all attempts of a worker share. */
export interface AttemptHost {
  readonly run: RunAttempt;
  settingsFor(queue: string): QueueSettings;
  say(saying: Saying): void;
  onStopping(attempt: Attempt, reason: StopReason): void;
  onEnd(attempt: Attempt, ending: Ending): void;
}

/** How long an ended attempt waits for its last checkpoint to be in the store. */
const FLUSH_DEADLINE_MS = 5_000;

/** After a cancel the job ends when nothing is left of it, and an unreachable store may come back: both wait. */
const WAITS_FOR_ITS_END: ReadonlySet<StopReason> = new Set(['cancel', 'unreachable']);

/** Where its lease stands on the table, and until when it holds by what this thread knows. */
export interface HeldInTable {
  readonly entry: number;
  readonly validUntil: number;
}

export class Attempt implements AttemptWays {
  readonly job: RunningJob;
  /** Its lease's entry on the table. */
  readonly entry: number;
  readonly #validUntil: number;
  readonly #host: AttemptHost;
  #reason: StopReason | null = null;
  #controller: AbortController | null = null;
  #voice: AttemptHeartbeats | null = null;
  #limits: LimitWatch | null = null;
  #grace: NodeJS.Timeout | null = null;
  #graceEndsAt = Number.POSITIVE_INFINITY;
  #hasBegun = false;
  #isOver = false;

  constructor(job: RunningJob, { entry, validUntil }: HeldInTable, host: AttemptHost) {
    this.job = job;
    this.entry = entry;
    this.#validUntil = validUntil;
    this.#host = host;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get limits(): LimitWatch | null {
    return this.#limits;
  }

  get stopReason(): StopReason | null {
    return this.#reason;
  }

  /** Its lease is over, by what this thread knows; the renewer may have renewed it. */
  get isTooLate(): boolean {
    return monotonicMs() >= this.#validUntil;
  }

  start(): void {
    this.#hasBegun = true;
    const { run, settingsFor } = this.#host;
    this.#limits = watchLimits(limitsOf(this.job, settingsFor(this.job.queue)), (reason) => this.stop(reason));
    try {
      run(this.job, new ContextOfAttempt(this)).then(
        (outcome) => this.#over(outcome),
        (error: unknown) => this.#over(failed(error)),
      );
    } catch (error) {
      this.#over(failed(error));
    }
  }

  /** The first reason wins, but a later one may put an end to the waiting. */
  stop(reason: StopReason, graceMs = this.#host.settingsFor(this.job.queue).graceMs): void {
    if (this.#isOver) return;
    if (!WAITS_FOR_ITS_END.has(reason)) this.#limitGrace(graceMs);
    if (reason === 'lease-lost') this.#voice?.end(new AttemptAborted(reason));
    if (this.#reason !== null) return;
    this.#reason = reason;
    this.#host.onStopping(this, reason);
    if (!this.#hasBegun) return this.giveBack('it was stopped before it began');
    this.#controller?.abort(new AttemptAborted(reason));
  }

  /** Nothing more is told of it. Its work may go on. */
  forget(): void {
    this.#isOver = true;
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#limits?.end();
    this.#voice?.end(new Error('its worker has gone'));
  }

  /** The store has what the attempt said, up to this number. */
  heard(number: number): void {
    this.#voice?.heard(number);
  }

  /** Asks the store how the lease stands. */
  heartbeatNow(): Promise<void> {
    return this.#speak().sayNow({});
  }

  /** A grace is only ever made shorter. */
  #limitGrace(graceMs: number): void {
    const endsAt = monotonicMs() + graceMs;
    if (endsAt >= this.#graceEndsAt) return;
    this.#graceEndsAt = endsAt;
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#grace = setTimeout(() => this.#end(null), graceMs);
  }

  /** Of one that has not begun. */
  giveBack(reason: string): void {
    this.#end({ kind: 'release', reason });
  }

  #over(outcome: RunOutcome): void {
    if (this.#isOver) return;
    const flushed = this.#reason === 'lease-lost' ? null : (this.#voice?.flush() ?? null);
    if (flushed === null) return this.#end(outcome);
    void atMost(flushed, FLUSH_DEADLINE_MS).then(() => this.#end(outcome));
  }

  #end(outcome: RunOutcome | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#grace !== null) clearTimeout(this.#grace);
    this.#limits?.end();
    this.#voice?.end(new Error('the attempt is over'));
    this.#host.onEnd(this, { outcome, reason: this.#reason });
  }

  #speak(): AttemptHeartbeats {
    this.#voice ??= new AttemptHeartbeats(this.job.lease.token, this.#host.say);
    return this.#voice;
  }

  /** Made when it is first looked at: most short handlers never do. */
  signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController();
      if (this.#reason !== null) this.#controller.abort(new AttemptAborted(this.#reason));
    }
    return this.#controller.signal;
  }

  progress(percent: number | null, text: string | null): void {
    this.#limits?.alive();
    if (!this.#isOver) this.#speak().progress(percent, text);
  }

  sayNow(words: Words): Promise<void> {
    this.#limits?.alive();
    return this.#isOver ? refused(new Error('the attempt is over')) : this.#speak().sayNow(words);
  }
}

/** Rejected, but nobody has to look. */
function refused(error: Error): Promise<void> {
  const promise = Promise.reject<void>(error);
  promise.catch(() => undefined);
  return promise;
}

function failed(error: unknown): RunOutcome {
  return { kind: 'fail', failure: failureOf(error), ...(isFinal(error) && { final: true }) };
}
