/**
 * One attempt, from claim to settlement. `runAttempt` is the whole path; the helpers follow in the order of their calls.
 *
 *     claim ─▶ hold the lease ─▶ start ─▶ outcome or end of grace ─▶ last heartbeat ─▶ settle ─▶ remove the lease
 *
 * `attempt.ts` holds the state of an attempt that other parts change: stop reason, grace, signal. `to-settlement.ts`
 * decides what an outcome means.
 *
 * Invariant: a worker never runs two attempts of a job at once, unless the handler of the first ignores its signal for
 * longer than its grace.
 * Invariant: a lease is in the lease table from before its handler starts until the store answers the settlement. The
 * lease renewer therefore renews it for exactly as long as it is needed.
 */
import type { RunningJob } from '../../core/job/job.ts';
import { isRunning } from '../../core/job/job.ts';
import type { ClaimResult } from '../../core/ports/job-store.ts';
import type { LeaseTable } from '../lease/lease-table.ts';
import { monotonicMs } from '../outcome/deadline.ts';
import type { SettlementBatcher } from '../outcome/settlement-batcher.ts';
import { releaseOf, toSettlement } from '../outcome/to-settlement.ts';
import type { AbandonedAttempts } from './abandoned-attempts.ts';
import type { AttemptHost } from './attempt.ts';
import { Attempt } from './attempt.ts';
import { ContextOfAttempt } from './attempt-context.ts';
import { limitsOf, watchLimits } from './attempt-limits.ts';
import type { AttemptOutcome, AttemptRunner } from './run-outcome.ts';
import { failedOutcome } from './run-outcome.ts';
import type { RunningAttempts } from './running-attempts.ts';

/** The parts of a worker that its attempts use. */
export interface AttemptPipeline extends AttemptHost {
  readonly table: LeaseTable;
  readonly attempts: RunningAttempts;
  readonly abandoned: AbandonedAttempts;
  readonly batcher: SettlementBatcher;
  readonly run: AttemptRunner;
  random(): number;
  /** Sends settlements and the next claim. Returns whether a claim was sent. */
  sendNow(): boolean;
  /** Called when a slot or an entry of the lease table becomes free. */
  onFree(): void;
}

/** The outcome of an attempt whose claim was answered after its lease was over. */
const LATE: AttemptOutcome = { kind: 'release', reason: 'its lease was over before it began' };

/** The attempt ended without a settlement. */
const NOT_SETTLED: { readonly settlement: null; readonly answer: null } = { settlement: null, answer: null };

/**
 * Runs the jobs of a claim. `sentAt` is when the claim was sent, on the monotonic clock.
 *
 * All leases are in the table before the first handler starts, because a handler may never yield the main thread. The
 * next claim is sent before the handlers start as well: a store client writes at the end of a turn of the event loop,
 * and the store then serves the claim while the handlers run.
 */
export function runClaimed(result: ClaimResult, sentAt: number, pipeline: AttemptPipeline): void {
  const attempts: Attempt[] = [];
  for (const job of result.jobs) if (isRunning(job)) attempts.push(holdLease(job, sentAt - result.now, pipeline));
  for (const attempt of attempts) if (attempt.isLeaseOver) void settle(attempt, LATE, pipeline);
  const runAll = (): void => {
    for (const attempt of attempts) if (!attempt.isClosed) void runAttempt(attempt, pipeline);
  };
  if (pipeline.sendNow()) process.nextTick(() => setImmediate(runAll));
  // A microtask later: attempts whose settlement was answered before this claim emit `ended` first.
  else void Promise.resolve().then(runAll);
}

/** Continues attempts of an earlier process. The age of their leases is unknown, so the table makes them due at once. */
export function runAdopted(jobs: readonly RunningJob[], pipeline: AttemptPipeline): void {
  const attempts = jobs.map((job) => holdLease(job, monotonicMs() + job.lease.ms / 2 - job.lease.until, pipeline));
  for (const attempt of attempts) void runAttempt(attempt, pipeline);
}

/** Releases the jobs of a claim that arrived after the worker stopped. */
export function releaseClaimed(result: ClaimResult, reason: string, { batcher, emit, onFree }: AttemptPipeline): void {
  for (const job of result.jobs.filter(isRunning)) {
    const settled = batcher.settle(releaseOf(job, reason));
    void settled.then((each) => emit({ type: 'ended', job, ...each, stopReason: null }));
  }
  onFree();
}

/** Runs one attempt whose lease is in the table. */
async function runAttempt(attempt: Attempt, pipeline: AttemptPipeline): Promise<void> {
  const earlier = pipeline.attempts.earlierOf(attempt);
  if (earlier !== undefined) await endEarlier(earlier, attempt);
  if (attempt.isLeaseOver) await renewLease(attempt);
  if (attempt.canStart) start(attempt, pipeline);
  const outcome = await attempt.outcome;
  const flushed = outcome === null ? null : attempt.flushHeartbeats();
  if (flushed !== null) await flushed;
  if (!attempt.isClosed) await settle(attempt, outcome, pipeline);
}

/**
 * Stops the attempt of the same job that lost its lease, and waits for its end, or for that of its grace. The worker may
 * get the job again before it learns of the loss: while the store was unavailable, no heartbeat was answered.
 */
async function endEarlier(earlier: Attempt, attempt: Attempt): Promise<void> {
  earlier.stop('lease-lost');
  await Promise.race([earlier.outcome, attempt.outcome]);
}

/**
 * `offset` converts the store's time to the monotonic clock. The store counted the lease from a moment after the claim
 * was sent, so the lease never ends before the time in the table.
 */
function holdLease(job: RunningJob, offset: number, pipeline: AttemptPipeline): Attempt {
  const { token, ms, until } = job.lease;
  const heartbeatMs = heartbeatIntervalOf(ms, pipeline.settingsFor(job.queue).heartbeatMs);
  const validUntil = until + offset;
  const entry = pipeline.table.write({ id: job.id, token, ms, heartbeatMs, validUntil });
  const attempt = new Attempt(job, { entry, validUntil }, pipeline);
  pipeline.attempts.add(attempt);
  return attempt;
}

/** Returns the interval of the queue, or a quarter of the lease where the queue's leaves less than half for a second try. */
export function heartbeatIntervalOf(leaseMs: number, heartbeatMs: number): number {
  return heartbeatMs <= leaseMs / 2 ? heartbeatMs : leaseMs / 4;
}

/**
 * Waits until the store confirms a lease that is over by the clock of this thread, or until the attempt is stopped.
 *
 * Other handlers blocked the main thread for longer than the lease. The lease renewer probably renewed it; if it could
 * not, its event is still on the way. A refusal stops the attempt, and the release follows from that.
 */
async function renewLease(attempt: Attempt): Promise<void> {
  await Promise.race([attempt.checkLease(), attempt.outcome]).catch(() => undefined);
}

function start(attempt: Attempt, { run, settingsFor, emit }: AttemptPipeline): void {
  const { job } = attempt;
  attempt.start(watchLimits(limitsOf(job, settingsFor(job.queue)), (reason) => attempt.stop(reason)));
  if (job.suspension !== null) attempt.limits?.ranBefore(job.suspension.ranMs);
  emit({ type: 'started', job });
  try {
    attempt.work = run(job, new ContextOfAttempt(attempt));
    attempt.work.then(attempt.end, (error: unknown) => attempt.end(failedOutcome(error)));
  } catch (error) {
    attempt.end(failedOutcome(error));
  }
}

/**
 * Frees the slot, records the outcome in the store, and removes the lease. An outcome of null: the attempt is abandoned,
 * and its slot stays taken.
 */
async function settle(attempt: Attempt, outcome: AttemptOutcome | null, pipeline: AttemptPipeline): Promise<void> {
  const { attempts, abandoned, batcher, settingsFor, random, emit, onFree } = pipeline;
  const { job, stopReason } = attempt;
  attempt.close();
  attempts.remove(attempt);
  if (outcome === null && stopReason !== null) abandoned.add(attempt, stopReason);
  const settlement = toSettlement(job, outcome, { stopReason, settings: settingsFor(job.queue), random: random() });
  // Neither is sent yet: the settlement and the claim for the free slot travel together, the settlement first.
  const settled = settlement === null ? null : batcher.settle(settlement);
  onFree();
  const answer = settled === null ? NOT_SETTLED : await settled;
  removeLease(attempt, pipeline);
  emit({ type: 'ended', job, ...answer, stopReason });
}

function removeLease({ entry }: Attempt, { table, onFree }: AttemptPipeline): void {
  const wasFull = table.room === 0;
  table.erase(entry);
  if (wasFull) onFree();
}
