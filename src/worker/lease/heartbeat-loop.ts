/**
 * Renews the leases of a worker and its registration. The same loop runs in the lease renewer's or the store's thread
 * and, for a store that cannot be opened a second time, on the main thread.
 *
 * One heartbeat call is in flight at a time; updates that arrive meanwhile wait for the next. A call has a deadline far
 * shorter than the lease, so a store that hangs costs a heartbeat and not the lease.
 */
import type { JobStore } from '../../core/ports/job-store.ts';
import { Registration } from '../loop/registration.ts';
import { monotonicMs, withDeadline } from '../outcome/deadline.ts';
import { EventLoopWatch } from './event-loop-watch.ts';
import type { HeldLease } from './held-leases.ts';
import { HeldLeases } from './held-leases.ts';
import type { HeartbeatPayload, HeartbeatUpdate, LeaseRenewerPlan, RenewerListener } from './lease-renewer.ts';
import { LeaseTableReader } from './lease-table.ts';

export interface HeartbeatLoopOptions {
  readonly plan: LeaseRenewerPlan;
  readonly jobs: JobStore;
  readonly emit: RenewerListener;
  /** Ends the process. Null on the main thread, which cannot watch itself. */
  readonly kill: (() => void) | null;
}

/** Heartbeats in one call. More leases are renewed by several calls, one after another. */
const MAX_BATCH = 1_000;
const MIN_DEADLINE_MS = 200;
/** The deadline of a call, as a share of its shortest lease. */
const DEADLINE_SHARE = 1 / 3;
const MAX_DEADLINE_MS = 10_000;

interface SentHeartbeat {
  readonly lease: HeldLease;
  readonly payload: HeartbeatPayload | null;
  readonly number: number;
  readonly hadStart: boolean;
}

export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions;
  readonly #table: LeaseTableReader;
  readonly #held: HeldLeases;
  readonly #registration: Registration;
  readonly #watch: EventLoopWatch | null;
  #timer: NodeJS.Timeout | null = null;
  #call: Promise<void> | null = null;
  #hasMore = false;
  #isUnavailable = false;

  constructor(options: HeartbeatLoopOptions) {
    const { plan, kill, emit } = options;
    this.#options = options;
    this.#table = new LeaseTableReader(plan.memory);
    this.#held = new HeldLeases(this.#table, plan.reportsStart ? null : plan.worker.pid);
    this.#registration = new Registration({ ...options, onAnswer: (error) => this.#storeAnswered(error) });
    this.#watch = kill === null ? null : new EventLoopWatch({ maxBlockMs: plan.maxBlockMs, kill, emit });
  }

  start(): void {
    this.tick();
    this.#tickLater();
  }

  send(update: HeartbeatUpdate): void {
    if (!this.#held.update(update)) {
      // The attempt started after the last tick. If its lease is not in the table now either, it has ended since.
      const wasCalm = this.#held.isEmpty;
      this.#held.sync(monotonicMs());
      if (!this.#held.update(update)) return;
      if (wasCalm && this.#timer !== null) this.#tickLater();
    }
    if (update.isUrgent) this.#renewNow();
  }

  rename(id: string): void {
    this.#registration.rename(id);
    this.tick();
  }

  show(info: string): void {
    this.#registration.show(info);
    // After the close, a call would register the worker again.
    if (this.#timer !== null) this.tick();
  }

  tick(): void {
    const now = monotonicMs();
    const blockedMs = this.#watch?.check(this.#table.turns, now) ?? 0;
    this.#held.sync(now);
    this.#registration.keep(now, { claims: this.#table.claims, blockedMs });
    this.#renew(now);
  }

  /** Ticks seldom while no lease is held: a lease claimed meanwhile is in the table long before its first renewal. */
  #tickLater(): void {
    const { tickMs, calmTickMs } = this.#options.plan;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.tick();
        this.#tickLater();
      },
      this.#held.isEmpty ? calmTickMs : tickMs,
    );
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    await this.#call;
    await this.#registration.settled();
  }

  /** An update that arrives while a call is in flight is sent with the next call, which then follows at once. */
  #renewNow(): void {
    if (this.#call === null) this.#renew(monotonicMs());
    else this.#hasMore = true;
  }

  #renew(now: number): void {
    if (this.#call !== null) return;
    const due = this.#held.due(now);
    if (due.length === 0) return;
    this.#hasMore = due.length > MAX_BATCH;
    this.#call = this.#sendBatch(due.slice(0, MAX_BATCH), now).finally(() => {
      this.#call = null;
      if (this.#hasMore && this.#timer !== null && !this.#isUnavailable) this.#renew(monotonicMs());
    });
  }

  async #sendBatch(leases: readonly HeldLease[], now: number): Promise<void> {
    const heartbeats = leases.map((lease) => this.#held.heartbeatOf(lease, now));
    const sent = leases.map((lease, index) => takePayload(lease, heartbeats[index]?.started !== undefined));
    try {
      const call = this.#options.jobs.heartbeat(heartbeats);
      const answers = await withDeadline(call, deadlineOf(leases));
      this.#storeAnswered(null);
      sent.forEach((each, index) => {
        const answer = answers[index];
        if (answer === undefined) return;
        if (answer.ok) this.#renewed(each, now);
        this.#held.answered(each.lease, answer, this.#options.emit);
      });
    } catch (error) {
      for (const each of sent) restorePayload(each);
      this.#storeAnswered(error);
    }
  }

  /** The new lease counts from when the heartbeat was sent: the store renewed it then or later. */
  #renewed({ lease, payload, number }: SentHeartbeat, sentAt: number): void {
    lease.validUntil = Math.max(lease.validUntil, sentAt + lease.ms);
    this.#table.showRenewal(lease, lease.validUntil);
    if (payload !== null) this.#options.emit({ kind: 'acknowledged', token: lease.token, number });
  }

  /** `error` is null when the store answered. */
  #storeAnswered(error: unknown): void {
    const isUnavailable = error !== null;
    if (isUnavailable !== this.#isUnavailable)
      this.#options.emit(isUnavailable ? { kind: 'unavailable', error } : { kind: 'available' });
    this.#isUnavailable = isUnavailable;
  }
}

function deadlineOf(leases: readonly HeldLease[]): number {
  const shortest = Math.min(...leases.map((lease) => lease.ms));
  return Math.min(MAX_DEADLINE_MS, Math.max(MIN_DEADLINE_MS, shortest * DEADLINE_SHARE));
}

function takePayload(lease: HeldLease, hadStart: boolean): SentHeartbeat {
  const { payload, number } = lease;
  lease.payload = null;
  if (hadStart) lease.needsStart = false;
  return { lease, payload, number, hadStart };
}

/** Puts an unsent payload back for the next heartbeat; later updates take precedence. */
function restorePayload({ lease, payload, hadStart }: SentHeartbeat): void {
  if (payload !== null) lease.payload = { ...payload, ...lease.payload };
  if (hadStart) lease.needsStart = true;
}
