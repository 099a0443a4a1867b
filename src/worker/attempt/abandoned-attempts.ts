/**
 * The attempts whose handlers did not stop within their grace, while their code still runs.
 *
 * The jobs are settled and the leases are over, but the code still uses the process. Each of them therefore keeps a slot
 * of the worker until its promise settles. At `max` of them, or when they take every slot, the worker drains: it claims
 * nothing more, and shows why. It resumes when one of them ends.
 */
import type { WorkerEvent } from '../loop/worker-event.ts';
import type { Attempt } from './attempt.ts';
import type { AttemptOutcome } from './run-outcome.ts';
import { failedOutcome } from './run-outcome.ts';
import type { StopReason } from './stop-reason.ts';

export interface AbandonedOptions {
  /** At this many the worker drains. */
  readonly max: number;
  /** Returns how many slots the worker has. */
  slots(): number;
  /** Whether the worker is stopped, so that it claims nothing anyway. */
  isStopped(): boolean;
  emit(event: WorkerEvent): void;
  /** Called when the number changes. A slot may be free. */
  onChange(): void;
}

/** What a worker shows of its abandoned handlers in its registration. */
export interface AbandonedInfo {
  readonly abandoned?: number;
  readonly draining?: string;
}

export class AbandonedAttempts {
  readonly #options: AbandonedOptions;
  readonly #attempts = new Set<Attempt>();
  #isDraining = false;

  constructor(options: AbandonedOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#attempts.size;
  }

  /** Whether the worker claims nothing because of them. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  all(): readonly Attempt[] {
    return [...this.#attempts];
  }

  /** Returns what the registration shows; empty without abandoned handlers. */
  info(): AbandonedInfo {
    if (this.size === 0) return {};
    return this.#isDraining ? { abandoned: this.size, draining: this.#reason() } : { abandoned: this.size };
  }

  /** Takes an attempt that is no longer waited for. What it returns later is an event, and is never sent. */
  add(attempt: Attempt, reason: StopReason): void {
    this.#attempts.add(attempt);
    this.#options.emit({ type: 'abandoned', job: attempt.job, reason });
    attempt.work?.then(
      (outcome) => this.#ended(attempt, reason, outcome),
      (error: unknown) => this.#ended(attempt, reason, failedOutcome(error)),
    );
    this.review();
  }

  #ended(attempt: Attempt, reason: StopReason, outcome: AttemptOutcome): void {
    this.#attempts.delete(attempt);
    this.#options.emit({ type: 'late-outcome', job: attempt.job, reason, outcome });
    this.review();
  }

  /** Decides again whether the worker drains: after a change of their number, or of the worker's slots. */
  review(): void {
    const { max, slots, isStopped, emit, onChange } = this.#options;
    if (isStopped()) return;
    const isDraining = this.size > 0 && this.size >= Math.min(max, slots());
    const hasTurned = isDraining !== this.#isDraining;
    this.#isDraining = isDraining;
    if (hasTurned)
      emit(isDraining ? { type: 'draining', abandoned: this.size, reason: this.#reason() } : { type: 'resumed' });
    onChange();
  }

  #reason(): string {
    const { max } = this.#options;
    const [handlers, take] = this.size === 1 ? ['handler still runs', 'takes'] : ['handlers still run', 'take'];
    const why = this.size >= max ? `maxAbandoned is ${max}` : `${take} every slot`;
    return `${this.size} abandoned ${handlers}, and ${why}`;
  }
}
