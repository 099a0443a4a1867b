/**
 * A worker's registration: made at the start, renewed with the heartbeats, and made again under another id after a loss.
 *
 * It is also the pulse. A store without any call for two seconds assumes an outage and extends running leases
 * (core/lifecycle/clock.ts). A worker that has no reason to claim therefore renews its registration more often.
 */
import type { JobStore } from '../../core/ports/job-store.ts';
import type { LeaseRenewerPlan, RenewerListener } from '../lease/lease-renewer.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../outcome/deadline.ts';

/** The renewer sees the claim of each second up to one tick late; a pulse sooner than this would be superfluous. */
const PULSE_MS = 1_250;

export interface RegistrationOptions {
  readonly plan: LeaseRenewerPlan;
  readonly jobs: JobStore;
  readonly emit: RenewerListener;
  /** `error` is null when the store answered. */
  onAnswer(error: unknown): void;
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
  #info: string;
  #shownInfo: string;

  constructor(options: RegistrationOptions) {
    this.#options = options;
    this.#id = options.plan.worker.id;
    this.#info = options.plan.worker.info;
    this.#shownInfo = this.#info;
  }

  rename(id: string): void {
    this.#id = id;
    this.#kind = 'register';
    this.#isLost = false;
    this.#renewedAt = Number.NEGATIVE_INFINITY;
  }

  /** Replaces the information about the worker; the next call of `keep` sends it. */
  show(info: string): void {
    this.#info = info;
  }

  /** Renews when a quarter of the worker's lease is over, its information changed, or no claim was sent for a while. */
  keep(now: number, { claims, blockedMs }: { claims: number; blockedMs: number }): void {
    if (claims !== this.#claims) this.#pulseAt = now;
    this.#claims = claims;
    if (this.#call !== null || this.#isLost) return;
    const isUnblocked = this.#isShownBlocked && blockedMs === 0;
    const isNews = this.#info !== this.#shownInfo;
    const isDue = isNews || isUnblocked || now - this.#renewedAt >= this.#options.plan.worker.leaseMs / 4;
    if (!isDue && now - this.#pulseAt < PULSE_MS) return;
    this.#pulseAt = now;
    this.#call = this.#send(now, blockedMs).finally(() => {
      this.#call = null;
    });
  }

  async settled(): Promise<void> {
    await this.#call;
  }

  async #send(now: number, blockedMs: number): Promise<void> {
    const { plan, jobs, onAnswer } = this.#options;
    const id = this.#id;
    this.#isShownBlocked = blockedMs > 0;
    const shown = this.#info;
    const info = blockedMs === 0 ? shown : withBlocked(shown, blockedMs);
    try {
      const call = jobs.keepWorker({ ...plan.worker, id, info, kind: this.#kind });
      const answer = await withDeadline(call, Math.min(CALL_DEADLINE_MS, plan.worker.leaseMs / 4));
      onAnswer(null);
      this.#shownInfo = shown;
      // The worker may be renamed while the call is in flight: the answer then concerns the id before.
      if (id === this.#id) this.#answered(answer.ok, now);
    } catch (error) {
      onAnswer(error);
    }
  }

  #answered(isKept: boolean, now: number): void {
    this.#renewedAt = now;
    this.#kind = 'renew';
    if (isKept) return;
    this.#isLost = true;
    this.#options.emit({ kind: 'worker-lost' });
  }
}

/** Adds to the worker's info for how long its main thread has been blocked. */
function withBlocked(info: string, blockedMs: number): string {
  const shown = JSON.parse(info) as Record<string, unknown>;
  return JSON.stringify({ ...shown, blockedMs });
}
