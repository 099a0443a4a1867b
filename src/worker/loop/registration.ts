/**
 * A worker's registration: made at the start, renewed with the beats, made anew under another id when it was lost.
 *
 * It is also the pulse. A store that hears nothing at all for two seconds takes it for an outage and gives running
 * leases more time (core/lifecycle/clock.ts), so a worker that has no reason to claim says now and then that it is there.
 */
import type { JobStore } from '../../core/ports/job-store.ts';
import type { LeaseRenewerPlan, TellNews } from '../lease/lease-renewer.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../outcome/deadline.ts';

/** A claim each second is seen up to a look at the table late, so a pulse sooner than this would be one too many. */
const PULSE_MS = 1_250;

export interface RegistrationOptions {
  readonly plan: LeaseRenewerPlan;
  readonly jobs: JobStore;
  readonly tell: TellNews;
  /** Null: the store answered. */
  heard(error: unknown): void;
}

export class Registration {
  readonly #options: RegistrationOptions;
  #id: string;
  #kind: 'register' | 'renew' = 'register';
  #renewedAt = Number.NEGATIVE_INFINITY;
  #pulseAt = Number.NEGATIVE_INFINITY;
  #claims = 0;
  #call: Promise<void> | null = null;
  #isLost = false;
  #isShownBlocked = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#id = options.plan.worker.id;
  }

  rename(id: string): void {
    this.#id = id;
    this.#kind = 'register';
    this.#isLost = false;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
  }

  /** Renews when a quarter of the worker's own lease is over, or when the store has heard no claim for a while. */
  keep(now: number, seen: { claims: number; blockedMs: number }): void {
    if (seen.claims !== this.#claims) this.#pulseAt = now;
    this.#claims = seen.claims;
    if (this.#call !== null || this.#isLost) return;
    const isUnblocked = this.#isShownBlocked && seen.blockedMs === 0;
    const isDue = isUnblocked || now - this.#renewedAt >= this.#options.plan.worker.leaseMs / 4;
    if (!isDue && now - this.#pulseAt < PULSE_MS) return;
    this.#pulseAt = now;
    this.#call = this.#send(now, seen.blockedMs).finally(() => {
      this.#call = null;
    });
  }

  async settled(): Promise<void> {
    await this.#call;
  }

  async #send(now: number, blockedMs: number): Promise<void> {
    const { plan, jobs, heard } = this.#options;
    const id = this.#id;
    this.#isShownBlocked = blockedMs > 0;
    const info = blockedMs === 0 ? plan.worker.info : withBlocked(plan.worker.info, blockedMs);
    try {
      const call = jobs.keepWorker({ ...plan.worker, id, info, kind: this.#kind });
      const answer = await withDeadline(call, Math.min(CALL_DEADLINE_MS, plan.worker.leaseMs / 4));
      heard(null);
      // Renamed while the call was under way: its answer speaks of the id before.
      if (id === this.#id) this.#answered(answer.ok, now);
    } catch (error) {
      heard(error);
    }
  }

  #answered(isKept: boolean, now: number): void {
    this.#renewedAt = now;
    this.#kind = 'renew';
    if (isKept) return;
    this.#isLost = true;
    this.#options.tell({ kind: 'worker-lost' });
  }
}

/** The worker's own words and, beside them, for how long its main thread has been blocked. */
function withBlocked(info: string, blockedMs: number): string {
  const shown = JSON.parse(info) as Record<string, unknown>;
  return JSON.stringify({ ...shown, blockedMs });
}
