/**
 * The renewal of a worker's leases and of its registration. The same machine runs in the renewer's thread and, over a
 * store that cannot be opened twice, on the main thread.
 *
 * One heartbeat call is under way at a time; what is said meanwhile gathers for the next. A call has a deadline far
 * shorter than the lease, so a store that hangs costs a beat and not the lease.
 */
import type { JobStore } from '../../core/ports/job-store.ts';
import { Registration } from '../loop/registration.ts';
import { withDeadline } from '../outcome/deadline.ts';
import { monotonicMs } from '../outcome/monotonic.ts';
import { MainWatch } from './event-loop-watch.ts';
import type { HeldLease } from './held-leases.ts';
import { HeldLeases } from './held-leases.ts';
import type { LeaseRenewerPlan, Saying, TellNews, Words } from './lease-renewer.ts';
import { BoardReader } from './lease-table.ts';

export interface LeaseBeatsOptions {
  readonly plan: LeaseRenewerPlan;
  readonly jobs: JobStore;
  readonly tell: TellNews;
  /** Ends the process; null where the main thread cannot be watched, because this is it. */
  readonly kill: (() => void) | null;
}

/** Beats of one call. More leases than that are renewed by several calls, one after the other. */
const MAX_BEATS = 1_000;
const MIN_DEADLINE_MS = 200;
/** The share of the shortest lease of a call after which its answer is no longer waited for. */
const DEADLINE_SHARE = 1 / 3;
const MAX_DEADLINE_MS = 10_000;

interface SentBeat {
  readonly lease: HeldLease;
  readonly words: Words | null;
  readonly number: number;
  readonly hadStart: boolean;
}

export class LeaseBeats {
  readonly #options: LeaseBeatsOptions;
  readonly #table: BoardReader;
  readonly #held: HeldLeases;
  readonly #registration: Registration;
  readonly #watch: MainWatch | null;
  #timer: NodeJS.Timeout | null = null;
  #call: Promise<void> | null = null;
  #hasMore = false;
  #isAway = false;

  constructor(options: LeaseBeatsOptions) {
    const { plan, kill } = options;
    this.#options = options;
    this.#table = new BoardReader(plan.memory);
    this.#held = new HeldLeases(this.#table, plan.saysStarted ? null : plan.worker.pid);
    this.#registration = new Registration({ ...options, heard: (error) => this.#heard(error) });
    this.#watch = kill === null ? null : new MainWatch({ maxBlockMs: plan.maxBlockMs, kill, tell: options.tell });
  }

  start(): void {
    this.tick();
    this.#tickLater();
  }

  say(saying: Saying): void {
    if (!this.#held.say(saying)) {
      // It began after the last look at the table. If it is not there now either, it has ended since.
      const wasCalm = this.#held.isEmpty;
      this.#held.sync(monotonicMs());
      if (!this.#held.say(saying)) return;
      if (wasCalm && this.#timer !== null) this.#tickLater();
    }
    if (saying.isUrgent) this.#beatNow();
  }

  rename(id: string): void {
    this.#registration.rename(id);
    this.tick();
  }

  tick(): void {
    const now = monotonicMs();
    const blockedMs = this.#watch?.look(this.#table.rounds, now) ?? 0;
    this.#held.sync(now);
    this.#held.warn(now, this.#options.plan.tickMs, this.#options.tell);
    this.#registration.keep(now, { claims: this.#table.claims, blockedMs });
    this.#beat(now);
  }

  /** Seldom while nothing is held: a lease that is claimed meanwhile is on the table long before its first renewal. */
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

  /** What comes while a call is under way goes with the next one, which then follows at once. */
  #beatNow(): void {
    if (this.#call === null) this.#beat(monotonicMs());
    else this.#hasMore = true;
  }

  #beat(now: number): void {
    if (this.#call !== null) return;
    const due = this.#held.due(now);
    if (due.length === 0) return;
    this.#hasMore = due.length > MAX_BEATS;
    this.#call = this.#send(due.slice(0, MAX_BEATS), now).finally(() => {
      this.#call = null;
      if (this.#hasMore && this.#timer !== null && !this.#isAway) this.#beat(monotonicMs());
    });
  }

  async #send(leases: readonly HeldLease[], now: number): Promise<void> {
    const beats = leases.map((lease) => this.#held.beatOf(lease, now));
    const sent = leases.map((lease, index) => takeWords(lease, beats[index]?.started !== undefined));
    try {
      const call = this.#options.jobs.heartbeat(beats);
      const answers = await withDeadline(call, deadlineOf(leases));
      this.#heard(null);
      sent.forEach((each, index) => {
        const answer = answers[index];
        if (answer === undefined) return;
        if (answer.ok) this.#renewed(each, now);
        this.#held.heard(each.lease, answer, this.#options.tell);
      });
    } catch (error) {
      for (const each of sent) giveBack(each);
      this.#heard(error);
    }
  }

  /** Counted from when the beat went out: the store renewed it then or later. */
  #renewed({ lease, words, number }: SentBeat, sentAt: number): void {
    lease.validUntil = Math.max(lease.validUntil, sentAt + lease.ms);
    if (words !== null) this.#options.tell({ kind: 'said', token: lease.token, number });
  }

  #heard(error: unknown): void {
    const isAway = error !== null;
    if (isAway !== this.#isAway) this.#options.tell(isAway ? { kind: 'away', error } : { kind: 'back' });
    this.#isAway = isAway;
  }
}

function deadlineOf(leases: readonly HeldLease[]): number {
  const shortest = Math.min(...leases.map((lease) => lease.ms));
  return Math.min(MAX_DEADLINE_MS, Math.max(MIN_DEADLINE_MS, shortest * DEADLINE_SHARE));
}

function takeWords(lease: HeldLease, hadStart: boolean): SentBeat {
  const { words, number } = lease;
  lease.words = null;
  if (hadStart) lease.needsStart = false;
  return { lease, words, number, hadStart };
}

/** What could not be said is said with the next beat, under what was said since. */
function giveBack({ lease, words, hadStart }: SentBeat): void {
  if (words !== null) lease.words = { ...words, ...lease.words };
  if (hadStart) lease.needsStart = true;
}
