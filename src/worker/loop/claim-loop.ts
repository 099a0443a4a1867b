// Long because it is one state machine: each of its inputs is a few lines, and their order matters.
/**
 * The claim loop: claims as many jobs as there are free slots, and decides when to claim again.
 *
 *     idle ──a free slot, an event, nextAt, a second──▶ claiming ──answer──▶ idle
 *                                                         └──no answer──▶ waits, then repeats
 *
 * A worker that runs no job and got none sends a claim that waits in the store (claim-wait.ts). Meanwhile there is nothing
 * to claim for: the store sees each job before the worker hears of it.
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
import { CALL_DEADLINE_MS, monotonicMs, SharedDeadline } from '../outcome/deadline.ts';
import { RetryDelay } from '../outcome/retry-delay.ts';
import { BusyPoll } from './busy-poll.ts';
import { OpenWait, POLL_MS, pollMs } from './claim-wait.ts';
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
  /** Whether claims of this worker may wait in the store. */
  mayWait(): boolean;
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
  /** Null if it does not wait in the store. */
  wait: OpenWait | null;
}

export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #delay: RetryDelay;
  readonly #deadline = new SharedDeadline(CALL_DEADLINE_MS);
  /** Of claims that wait. It begins after the longest wait. */
  readonly #waitDeadline = new SharedDeadline(CALL_DEADLINE_MS + POLL_MS);
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
  /** The last answer, if it was without jobs. */
  #empty: ClaimResult | null = null;
  /** Whether the store kept the last claim that was to wait in it. */
  #canStoreWait = true;
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
    return this.#open.some(({ isInFlight, wait }) => isInFlight && wait === null) && !this.#canOverlap();
  }

  /** Requests a claim: there may be work. */
  wake(): void {
    this.#isExpectant = true;
    this.#want();
  }

  /** Requests a claim that follows an add of this process to the store. A claim that waits is there already. */
  wakeForAdd(): void {
    if (!this.#waitsInStore) this.wake();
  }

  #want(): void {
    this.#isWanted = true;
    if (!this.mustWait && !this.#isWaiting) this.#options.schedule();
  }

  /** Requests a claim without any delay: the store is available again, or there is more or less room. */
  wakeNow(): void {
    this.#isWaiting = false;
    this.#withdraw();
    this.wake();
  }

  pause(): void {
    this.#isPaused = true;
    this.#withdraw();
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
    if (this.#isWaiting || this.#waitsInStore || this.mustWait) return false;
    const due = this.#open.length > 0 && !this.#canOverlap() ? this.#open : this.#newRequests();
    for (const request of due) void this.#send(request);
    return due.length > 0;
  }

  /** Resolves when no request is open. Until then jobs may still arrive. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#withdraw();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#endIfIdle();
    });
  }

  /** Drops lost requests; their leases expire. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#withdraw();
    this.#dropLost();
    this.#isWaiting = false;
    this.#clearTimer();
    this.#endIfIdle();
  }

  get #waitsInStore(): boolean {
    return this.#open.some(({ wait }) => wait !== null);
  }

  #withdraw(): void {
    for (const { wait } of this.#open) wait?.withdraw();
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
    const wait = this.#newWait();
    if (wait !== null) this.#clearTimer();
    this.#newest = { claim, isInFlight: true, isLost: false, isExpectant: this.#isExpectant, wait };
    this.#isWanted = false;
    this.#isExpectant = false;
    this.#open.push(this.#newest);
    return [this.#newest];
  }

  /** Returns null unless the worker is idle; also if a job is probable and the store does not wait. */
  #newWait(): OpenWait | null {
    if (this.#empty === null || !this.#canWait()) return null;
    return this.#canStoreWait || !this.#isExpectant ? new OpenWait(pollMs(this.#empty)) : null;
  }

  #canWait(): boolean {
    return this.#empty !== null && this.#isIdle() && this.#options.mayWait();
  }

  async #send(request: OpenRequest): Promise<void> {
    const sentAt = monotonicMs();
    const { onSent } = this.#options;
    request.isInFlight = true;
    onSent();
    const isPolled = request.isExpectant && request.wait === null && this.#isIdle();
    if (isPolled) this.#busyPoll.start();
    try {
      const result = await this.#limited(request);
      this.#remove(request);
      this.#answered(request, result, sentAt);
    } catch (error) {
      this.#failed(request, error);
    }
    if (isPolled) this.#busyPoll.stop();
    // Settlements that waited for this answer are sent now, even if no other claim follows.
    this.#options.schedule();
    this.#endIfIdle();
  }

  #limited(request: OpenRequest): Promise<ClaimResult> {
    const deadline = request.wait === null ? this.#deadline : this.#waitDeadline;
    return deadline.limit(this.#claim(request));
  }

  #claim({ claim, wait }: OpenRequest): Promise<ClaimResult> {
    const { jobs, endsWithProcess } = this.#options;
    if (endsWithProcess !== true) return jobs.claim(claim, wait === null ? {} : { wait });
    return jobs.claim(claim, wait === null ? { sync: 'later' } : { sync: 'later', wait });
  }

  #answered({ claim, wait }: OpenRequest, result: ClaimResult, sentAt: number): void {
    this.#isWaiting = false;
    this.#delay.reset();
    this.#options.availability.answered();
    const isFull = result.jobs.length >= claim.limit;
    this.#empty = result.jobs.length === 0 ? result : null;
    if (this.#empty !== null && wait !== null) this.#canStoreWait = wait.wasKept ?? this.#canStoreWait;
    // A full claim is followed by another anyway; a timer that is already set suffices as the fallback poll.
    if (!this.#isStopped && !(isFull && this.#timer !== null)) this.#claimAgainIn(isFull ? POLL_MS : pollMs(result));
    // Before the jobs start: the next claim may be sent while they run.
    this.#hasMore = isFull;
    this.#isExpectant ||= isFull;
    this.#isWanted ||= isFull || this.#waitsNext(wait);
    this.#options.onClaimed(result, sentAt);
    if (this.#isWanted && !this.#isStopped) this.#want();
  }

  /** Whether the next claim is sent at once and waits, after an answer to a claim that had `wait`. */
  #waitsNext(wait: OpenWait | null): boolean {
    return this.#canStoreWait && wait?.signal.aborted !== true && this.#canWait();
  }

  #failed(request: OpenRequest, error: unknown): void {
    const { availability, onTrouble, workerId } = this.#options;
    if (isUnavailable(error)) availability.failed(error);
    else onTrouble(error);
    request.isInFlight = false;
    request.wait = null;
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
    const at = this.#open.indexOf(request);
    if (at >= 0) this.#open.splice(at, 1);
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
    this.#deadline.end();
    this.#waitDeadline.end();
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
