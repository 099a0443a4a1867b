/**
 * The claim loop: claims as many jobs as there are free slots, and decides when to claim again.
 *
 *     idle ──a free slot, an event, nextAt, a second──▶ claiming ──answer──▶ idle
 *                                                         └──no answer──▶ waits, then repeats
 *
 * A worker with many slots may have a second request in flight while its queues have more work: the store serves one
 * request while the worker runs the jobs of the other.
 *
 * Invariant: a request whose answer was lost is repeated under its own request id until it is answered, because
 * otherwise no worker would hold the leases that it may have granted. The store remembers the last two requests of a
 * worker. Therefore a request is sent only when the one before the previous is answered, and no new one is sent while a
 * lost one is not.
 * Invariant: the limits of the requests in flight count as taken slots.
 */
import type { WorkerCapacity } from '../../core/limits/resources.ts';
import type { ClaimRequest, ClaimResult, JobStore } from '../../core/ports/job-store.ts';
import { CALL_DEADLINE_MS, monotonicMs, withDeadline } from '../outcome/deadline.ts';
import { RetryDelay } from '../outcome/retry-delay.ts';
import { BusyPoll } from './busy-poll.ts';
import type { StoreAvailability } from './store-availability.ts';
import { codeOf, isUnavailable } from './store-availability.ts';

export interface ClaimLoopOptions {
  readonly jobs: JobStore;
  readonly queues: readonly string[];
  readonly leaseMs?: number;
  /** As in the options of a worker. */
  readonly endsWithProcess?: boolean;
  readonly availability: StoreAvailability;
  /** Returns how many jobs the worker can take now, apart from those that requests in flight may bring. */
  room(): number;
  concurrency(): number;
  /** Requests in flight, at most MAX_REMEMBERED_CLAIMS of core/ports/table.ts. */
  readonly maxRequests: 1 | 2;
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
const HALVES_FROM = 16;

/** A request without an answer. */
interface OpenRequest {
  readonly claim: ClaimRequest;
  isInFlight: boolean;
  /** An answer to it was lost, so the store may have granted leases. */
  isLost: boolean;
  /** It is not only the fallback poll: there is a reason to expect a job. */
  readonly isExpectant: boolean;
}

export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #delay: RetryDelay;
  readonly #busyPoll = new BusyPoll();
  #isStopped = false;
  #isPaused = false;
  /** There may be new work since the last claim was sent. */
  #isWanted = true;
  /** There is a reason for that: an event, a full answer, a job that ended. */
  #isExpectant = false;
  /** The last answer was full: there is probably more. */
  #hasMore = false;
  #isWaiting = false;
  /** In the order in which they were first sent. */
  #open: OpenRequest[] = [];
  /** The newest request, answered or not. */
  #newest: OpenRequest | null = null;
  #timer: NodeJS.Timeout | null = null;
  #whenIdle: (() => void)[] = [];
  #isGivenUp = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
    this.#delay = new RetryDelay({ firstMs: 50, maxMs: POLL_MS, random: options.random });
  }

  /** Whether a claim, and the settlements that are sent with it, wait for the answer to a request in flight. */
  get mustWait(): boolean {
    return this.#open.some(({ isInFlight }) => isInFlight) && !this.#canOverlap();
  }

  /** Requests a claim: there may be work. */
  wake(): void {
    this.#isExpectant = true;
    this.#want();
  }

  #want(): void {
    this.#isWanted = true;
    if (!this.mustWait && !this.#isWaiting) this.#options.schedule();
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

  /** Drops lost requests: the worker continues under another id. */
  forget(): void {
    this.#dropLost();
    this.wakeNow();
  }

  /** Repeats lost requests; otherwise claims if there may be work and there is room. Returns whether it sent a request. */
  flush(): boolean {
    if (this.#isWaiting || this.mustWait) return false;
    const due = this.#open.length > 0 && !this.#canOverlap() ? this.#open : this.#newRequests();
    for (const request of due) void this.#send(request);
    return due.length > 0;
  }

  /** Resolves when no request is open. Until then jobs may still arrive. */
  stop(): Promise<void> {
    this.#isStopped = true;
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#endIfIdle();
    });
  }

  /** Drops lost requests; their leases expire. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#dropLost();
    this.#isWaiting = false;
    this.#clearTimer();
    this.#endIfIdle();
  }

  #dropLost(): void {
    this.#open = this.#open.filter(({ isInFlight }) => isInFlight);
  }

  /**
   * Whether a second request may be sent: the first is the newest, none is lost, and there is room for half a share.
   * Smaller requests would cost more than the wait.
   */
  #canOverlap(): boolean {
    const { concurrency, maxRequests } = this.#options;
    const [first] = this.#open;
    if (this.#open.length !== 1 || maxRequests < 2 || concurrency() < HALVES_FROM) return false;
    if (first !== this.#newest || first?.isLost === true) return false;
    if (!this.#hasMore || !this.#isWanted || this.#isStopped || this.#isPaused) return false;
    return this.#room() >= this.#share() / 2;
  }

  /** Whether the worker runs no job, so that it can only wait for the answer. */
  #isIdle(): boolean {
    return this.#options.room() >= this.#options.concurrency();
  }

  /** How many jobs the worker can take beside those that open requests may bring. */
  #room(): number {
    return this.#open.reduce((room, { claim }) => room - claim.limit, this.#options.room());
  }

  /** How many jobs one request asks for. */
  #share(): number {
    const concurrency = this.#options.concurrency();
    return Math.min(concurrency < HALVES_FROM ? concurrency : Math.ceil(concurrency / 2), MAX_CLAIM);
  }

  #newRequests(): readonly OpenRequest[] {
    if (this.#isStopped || this.#isPaused || !this.#isWanted) return [];
    const { queues, leaseMs, offers, workerId, newId } = this.#options;
    const limit = Math.min(this.#room(), this.#share());
    if (limit <= 0) return [];
    const offered = offers();
    const claim: ClaimRequest = {
      worker: workerId(),
      queues,
      limit,
      requestId: newId(),
      ...(leaseMs !== undefined && { leaseMs }),
      ...(offered !== undefined && { offers: offered }),
    };
    this.#newest = { claim, isInFlight: true, isLost: false, isExpectant: this.#isExpectant };
    this.#isWanted = false;
    this.#isExpectant = false;
    this.#open.push(this.#newest);
    return [this.#newest];
  }

  async #send(request: OpenRequest): Promise<void> {
    const sentAt = monotonicMs();
    const { onSent } = this.#options;
    request.isInFlight = true;
    onSent();
    const isPolled = request.isExpectant && this.#isIdle();
    if (isPolled) this.#busyPoll.start();
    try {
      const result = await withDeadline(this.#claim(request.claim), CALL_DEADLINE_MS);
      this.#remove(request);
      this.#answered(request.claim, result, sentAt);
    } catch (error) {
      this.#failed(request, error);
    }
    if (isPolled) this.#busyPoll.stop();
    // Settlements that waited for this answer are sent now, even if no other claim follows.
    this.#options.schedule();
    this.#endIfIdle();
  }

  #claim(request: ClaimRequest): Promise<ClaimResult> {
    const { jobs, endsWithProcess } = this.#options;
    return endsWithProcess === true ? jobs.claim(request, { sync: 'later' }) : jobs.claim(request);
  }

  #answered(request: ClaimRequest, result: ClaimResult, sentAt: number): void {
    this.#isWaiting = false;
    this.#delay.reset();
    this.#options.availability.answered();
    const isFull = result.jobs.length >= request.limit;
    // A full claim is followed by another anyway; a timer that is already set suffices as the fallback poll.
    if (!this.#isStopped && !(isFull && this.#timer !== null)) this.#claimAgainIn(isFull ? POLL_MS : waitMs(result));
    // Before the jobs start: the next claim may be sent while they run.
    this.#hasMore = isFull;
    this.#isWanted ||= isFull;
    this.#options.onClaimed(result, sentAt);
    if (this.#isWanted && !this.#isStopped) this.wake();
  }

  #failed(request: OpenRequest, error: unknown): void {
    const { availability, onTrouble, workerId } = this.#options;
    if (isUnavailable(error)) availability.failed(error);
    else onTrouble(error);
    request.isInFlight = false;
    // A repeat that did not reach the store leaves the request lost.
    request.isLost ||= codeOf(error) === 'outcome-unknown';
    const isRepeated = request.isLost && request.claim.worker === workerId() && !this.#isGivenUp;
    if (!isRepeated) this.#remove(request);
    this.#isWanted = true;
    if (this.#isStopped && !isRepeated) return;
    this.#isWaiting = true;
    this.#claimAgainIn(this.#delay.next());
  }

  #remove(request: OpenRequest): void {
    this.#open = this.#open.filter((each) => each !== request);
  }

  #claimAgainIn(ms: number): void {
    this.#clearTimer();
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#isWaiting = false;
      this.#want();
    }, ms);
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #endIfIdle(): void {
    if (!this.#isStopped || this.#open.length > 0) return;
    this.#clearTimer();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}

/** Returns the time until the next job is due. A job that is due already but was not granted waits for another reason. */
function waitMs({ now, nextAt }: ClaimResult): number {
  if (nextAt === null || nextAt <= now) return POLL_MS;
  return Math.min(nextAt - now, POLL_MS);
}
