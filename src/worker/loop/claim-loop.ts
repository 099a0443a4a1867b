/**
 * The claim loop: asks the store for as many jobs as there are free slots, and knows when to ask again.
 *
 *     idle ──a slot is freed, an event, nextAt, a second──▶ claiming ──answer──▶ idle
 *                                                             └──no answer──▶ waits, then repeats
 *
 * Invariant: one claim is under way at a time. A claim whose answer was lost is repeated under its own request id
 * until it is answered, because the leases it may have been given would otherwise be held by nobody.
 */

import type { Offer } from '../../core/limits/resources.ts';
import type { ClaimRequest, ClaimResult, JobStore } from '../../core/ports/job-store.ts';
import { CALL_DEADLINE_MS, withDeadline } from '../outcome/deadline.ts';
import { monotonicMs } from '../outcome/monotonic.ts';
import { RetryDelay } from '../outcome/retry-delay.ts';
import type { Reach } from './store-availability.ts';
import { codeOf, isAway } from './store-availability.ts';

export interface ClaimLoopOptions {
  readonly jobs: JobStore;
  readonly queues: readonly string[];
  readonly leaseMs?: number;
  readonly reach: Reach;
  /** How many jobs can be taken now. */
  room(): number;
  /** What there is for jobs that need something; undefined where nothing is offered. */
  offers(): Offer | undefined;
  workerId(): string;
  newId(): string;
  random(): number;
  /** Has `flush` called soon, together with whatever else is to be sent. */
  schedule(): void;
  onSent(): void;
  /** `sentAt`: when the request went out that was answered, by the monotonic clock. */
  onClaimed(result: ClaimResult, sentAt: number): void;
  onTrouble(error: unknown): void;
}

/** The net under lost events. The store's clock counts on it as well (GAP_MS in core/lifecycle/clock.ts). */
export const POLL_MS = 1_000;
/** Jobs of one claim. More free slots than that are filled by several, one after the other. */
export const MAX_CLAIM = 500;

/** From so many slots on, a claim asks for half of them: the store serves one half while the other half runs. */
const HALVES_FROM = 20;

export function claimShare(concurrency: number): number {
  return concurrency < HALVES_FROM ? concurrency : Math.ceil(concurrency / 2);
}

export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #delay: RetryDelay;
  #isStopped = false;
  #isPaused = false;
  /** Something may have changed since the last claim went out. */
  #isWanted = true;
  #isClaiming = false;
  #isWaiting = false;
  /** The request whose answer was lost. */
  #unanswered: ClaimRequest | null = null;
  #timer: NodeJS.Timeout | null = null;
  #whenIdle: (() => void)[] = [];
  #isGivenUp = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
    this.#delay = new RetryDelay({ firstMs: 50, maxMs: POLL_MS, random: options.random });
  }

  /** A claim has no answer yet. */
  get isClaiming(): boolean {
    return this.#isClaiming;
  }

  /** Something may be there to be claimed. */
  wake(): void {
    this.#isWanted = true;
    if (!this.#isClaiming && !this.#isWaiting) this.#options.schedule();
  }

  /** The store is back: no reason to wait any longer. */
  wakeNow(): void {
    this.#isWaiting = false;
    this.wake();
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.wake();
  }

  /** The worker goes on under another id, to which nobody owes an answer. */
  forget(): void {
    this.#unanswered = null;
    this.wakeNow();
  }

  /** Claims if there is a reason to and room for it. */
  flush(): void {
    if (this.#isClaiming || this.#isWaiting) return;
    const request = this.#unanswered ?? this.#newRequest();
    if (request === null) return;
    this.#isWanted = false;
    this.#isClaiming = true;
    void this.#claim(request);
  }

  /** Resolved when no claim is under way and none is unanswered. Until then jobs may still arrive. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#endIfIdle();
    });
  }

  /** Leaves an unanswered claim to its leases' end. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#unanswered = null;
    this.#isWaiting = false;
    this.#clearTimer();
    this.#endIfIdle();
  }

  #newRequest(): ClaimRequest | null {
    if (this.#isStopped || this.#isPaused || !this.#isWanted) return null;
    const { queues, leaseMs, room, offers, workerId, newId } = this.#options;
    const limit = Math.min(room(), MAX_CLAIM);
    if (limit <= 0) return null;
    const offered = offers();
    return {
      worker: workerId(),
      queues,
      limit,
      requestId: newId(),
      ...(leaseMs !== undefined && { leaseMs }),
      ...(offered !== undefined && { offers: offered }),
    };
  }

  async #claim(request: ClaimRequest): Promise<void> {
    const sentAt = monotonicMs();
    const { jobs, onSent } = this.#options;
    onSent();
    try {
      const result = await withDeadline(jobs.claim(request), CALL_DEADLINE_MS);
      this.#isClaiming = false;
      this.#answered(request, result, sentAt);
    } catch (error) {
      this.#isClaiming = false;
      this.#failed(request, error);
    }
    // What waited for this answer goes out now, also when no other claim follows.
    this.#options.schedule();
    this.#endIfIdle();
  }

  #answered(request: ClaimRequest, result: ClaimResult, sentAt: number): void {
    this.#unanswered = null;
    this.#delay.reset();
    this.#options.reach.answered();
    const isFull = result.jobs.length >= request.limit;
    // After a full one there is another reason to look again, and a timer that is set already does as a net.
    if (!this.#isStopped && !(isFull && this.#timer !== null)) this.#lookAgainIn(isFull ? POLL_MS : waitMs(result));
    // Before the jobs begin: the next claim may go out while they run.
    this.#isWanted ||= isFull;
    this.#options.onClaimed(result, sentAt);
    if (this.#isWanted && !this.#isStopped) this.wake();
  }

  #failed(request: ClaimRequest, error: unknown): void {
    const { reach, onTrouble, workerId } = this.#options;
    if (isAway(error)) reach.failed(error);
    else onTrouble(error);
    // A repeat that was never sent leaves the claim before it as unanswered as it was.
    const isUnanswered = codeOf(error) === 'outcome-unknown' || request === this.#unanswered;
    const isLost = isUnanswered && request.worker === workerId() && !this.#isGivenUp;
    this.#unanswered = isLost ? request : null;
    this.#isWanted = true;
    if (this.#isStopped && !isLost) return;
    this.#isWaiting = true;
    this.#lookAgainIn(this.#delay.next());
  }

  #lookAgainIn(ms: number): void {
    this.#clearTimer();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.wakeNow();
    }, ms);
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #endIfIdle(): void {
    if (!this.#isStopped || this.#isClaiming || this.#unanswered !== null) return;
    this.#clearTimer();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** Until time alone makes something claimable. What was due already and not given has another reason to wait. */
function waitMs({ now, nextAt }: ClaimResult): number {
  if (nextAt === null || nextAt <= now) return POLL_MS;
  return Math.min(nextAt - now, POLL_MS);
}
