/**
 * The claim loop: claims as many jobs as there are free slots, and decides when to claim again.
 *
 *     idle ──a free slot, an event, nextAt, a second──▶ claiming ──answer──▶ idle
 *                                                         └──no answer──▶ waits, then repeats
 *
 * Invariant: one claim is in flight at a time. A claim whose answer was lost is repeated under its own request id until
 * it is answered, because otherwise no worker would hold the leases that it may have granted.
 */
import type { WorkerCapacity } from '../../core/limits/resources.ts';
import type { ClaimRequest, ClaimResult, JobStore } from '../../core/ports/job-store.ts';
import { CALL_DEADLINE_MS, monotonicMs, withDeadline } from '../outcome/deadline.ts';
import { RetryDelay } from '../outcome/retry-delay.ts';
import type { StoreAvailability } from './store-availability.ts';
import { codeOf, isUnavailable } from './store-availability.ts';

export interface ClaimLoopOptions {
  readonly jobs: JobStore;
  readonly queues: readonly string[];
  readonly leaseMs?: number;
  readonly availability: StoreAvailability;
  /** Returns how many jobs the worker can take now. */
  room(): number;
  /** Returns the free capacity for jobs that need resources; undefined where the worker offers none. */
  offers(): WorkerCapacity | undefined;
  workerId(): string;
  newId(): string;
  random(): number;
  /** Has `flush` called soon, together with the settlements that are to be sent. */
  schedule(): void;
  onSent(): void;
  /** `sentAt`: when the answered request was sent, on the monotonic clock. */
  onClaimed(result: ClaimResult, sentAt: number): void;
  onTrouble(error: unknown): void;
}

/** The poll that makes up for lost events. The store's clock relies on it too (GAP_MS in core/lifecycle/clock.ts). */
export const POLL_MS = 1_000;
/** Jobs of one claim. More free slots are filled by several claims, one after another. */
export const MAX_CLAIM = 500;

/** With this many slots or more, a claim asks for half of them: the store serves one half while the other half runs. */
const HALVES_FROM = 20;

export function claimShare(concurrency: number): number {
  return concurrency < HALVES_FROM ? concurrency : Math.ceil(concurrency / 2);
}

export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #delay: RetryDelay;
  #isStopped = false;
  #isPaused = false;
  /** There may be new work since the last claim was sent. */
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

  /** Whether a claim is in flight. */
  get isClaiming(): boolean {
    return this.#isClaiming;
  }

  /** Requests a claim: there may be work. */
  wake(): void {
    this.#isWanted = true;
    if (!this.#isClaiming && !this.#isWaiting) this.#options.schedule();
  }

  /** Requests a claim without the delay after an error: the store is available again. */
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

  /** Drops an unanswered claim: the worker continues under another id. */
  forget(): void {
    this.#unanswered = null;
    this.wakeNow();
  }

  /** Claims if there may be work and there is room. */
  flush(): void {
    if (this.#isClaiming || this.#isWaiting) return;
    const request = this.#unanswered ?? this.#newRequest();
    if (request === null) return;
    this.#isWanted = false;
    this.#isClaiming = true;
    void this.#claim(request);
  }

  /** Resolves when no claim is in flight or unanswered. Until then jobs may still arrive. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#endIfIdle();
    });
  }

  /** Drops an unanswered claim; its leases expire. */
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
    // Settlements that waited for this answer are sent now, even if no other claim follows.
    this.#options.schedule();
    this.#endIfIdle();
  }

  #answered(request: ClaimRequest, result: ClaimResult, sentAt: number): void {
    this.#unanswered = null;
    this.#delay.reset();
    this.#options.availability.answered();
    const isFull = result.jobs.length >= request.limit;
    // A full claim is followed by another anyway; a timer that is already set suffices as the fallback poll.
    if (!this.#isStopped && !(isFull && this.#timer !== null)) this.#claimAgainIn(isFull ? POLL_MS : waitMs(result));
    // Before the jobs start: the next claim may be sent while they run.
    this.#isWanted ||= isFull;
    this.#options.onClaimed(result, sentAt);
    if (this.#isWanted && !this.#isStopped) this.wake();
  }

  #failed(request: ClaimRequest, error: unknown): void {
    const { availability, onTrouble, workerId } = this.#options;
    if (isUnavailable(error)) availability.failed(error);
    else onTrouble(error);
    // A repeat that was not sent leaves the claim before it unanswered.
    const isUnanswered = codeOf(error) === 'outcome-unknown' || request === this.#unanswered;
    const isLost = isUnanswered && request.worker === workerId() && !this.#isGivenUp;
    this.#unanswered = isLost ? request : null;
    this.#isWanted = true;
    if (this.#isStopped && !isLost) return;
    this.#isWaiting = true;
    this.#claimAgainIn(this.#delay.next());
  }

  #claimAgainIn(ms: number): void {
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

/** Returns the time until the next job is due. A job that is due already but was not granted waits for another reason. */
function waitMs({ now, nextAt }: ClaimResult): number {
  if (nextAt === null || nextAt <= now) return POLL_MS;
  return Math.min(nextAt - now, POLL_MS);
}
