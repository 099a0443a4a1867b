// Long because it holds every decision, and readers want a job's whole life on one page.
/**
 * The lifecycle rules. Every change of a job is one of these pure functions. A store only keeps what they return
 * (memory, SQLite) or restates them where it must (Redis, in Lua; the model suite holds the two equal).
 *
 *     draft ──commit──▶ waiting ──claim──▶ running ──complete, forward──▶ done
 *                        ▲  ▲               │ │ │ └──fail, none left────▶ failed
 *                        │  │               │ │ └─fail, retry, resend───▶ waiting (runAt later)
 *                        │  │               │ └──release, lost──────────▶ waiting (at the front)
 *                        │  │               ├────suspend────────────────▶ waiting (the same attempt resumes)
 *                        │  │               └───complete with next──────▶ waiting there (counters at 0)
 *                        │  └── requeue ── done, failed, cancelled, running when held
 *                        └ move ── waiting, draft     cancel ── draft, waiting, running ──▶ cancelled
 *
 * The effects on jobs that wait for this one are in dependencies.ts.
 *
 * This module reads no clock, draws no random number and touches no store. A function that may refuse returns a refusal
 * code; any other function is called only after its caller has checked.
 */

import type { HistoryEvent, HistoryRow } from '../job/history.ts';
import { MAX_NOTE_LENGTH, RESULT_PRUNED } from '../job/history.ts';
import type { EndedState, Failure, Job, JobState, Parents, RunningJob, UniqueKey } from '../job/job.ts';
import { isEnded, isRunning, isSuspended, NO_SLOTS, readySince } from '../job/job.ts';
import { NEVER, suspensionText } from '../job/step.ts';
import type { Heartbeat, JobChanges, Move, NewJob, Requeue, Settlement, SettlementKind } from '../ports/job-store.ts';
import type { RefusalCode } from '../ports/refusal.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { crashDelayMs } from './backoff.ts';
import type { Gap, Moment } from './clock.ts';

/** A job's next record and the history row that explains it. */
export interface Transition {
  readonly job: Job;
  readonly row: HistoryRow;
}

interface RowDetails {
  readonly token?: number | null;
  readonly by?: string | null;
  readonly note?: string | null;
}

/** Creates a transition. The slots end with the lease, whatever ends it. */
export function transition(job: Job, event: HistoryEvent, at: number, details: RowDetails = {}): Transition {
  const { token = null, by = null, note = null } = details;
  const cut = note === null ? null : note.slice(0, MAX_NOTE_LENGTH);
  const row: HistoryRow = { at, event, state: job.state, attempt: job.attempt, token, by, note: cut };
  return { job: job.lease === null ? withoutLease(job) : job, row };
}

/** Removes slots. Only a done job keeps the number of jobs that were coalesced into it. */
function withoutLease(job: Job): Job {
  const folded = job.state === 'done' ? job.folded : 0;
  return job.slots.length === 0 && job.folded === folded ? job : { ...job, slots: NO_SLOTS, folded };
}

// ── adding ───────────────────────────────────────────────────────────────────────────────────────────────────

/** The fields in which plain jobs of a queue differ. */
export type PlainJob = Pick<NewJob, 'id' | 'data'>;

interface CreationContext {
  readonly now: number;
  readonly seq: number;
  readonly settings: QueueSettings;
  /** Counts of the jobs it waits for. */
  readonly parents?: Parents | null;
}

export function created(input: NewJob, context: CreationContext): Transition {
  const { now, seq, settings, parents = null } = context;
  const isDraft = input.draft === true;
  const delayMs = input.delayMs ?? 0;
  const job: Job = {
    id: input.id,
    queue: input.queue,
    name: input.name ?? null,
    data: input.data,
    state: isDraft ? 'draft' : 'waiting',
    priority: input.priority ?? settings.priority,
    tags: input.tags ?? [],
    policy: input.policy ?? {},
    unique: input.unique ?? null,
    parents,
    dependents: 0,
    createdAt: now,
    seq,
    runAt: input.runAt ?? (isDraft ? now : now + delayMs),
    delayMs: delayMs > 0 && (isDraft || input.runAt === undefined) ? delayMs : null,
    freedAt: null,
    returnedAt: null,
    turn: 0,
    coalesceKey: null,
    foldedInto: null,
    folded: 0,
    slots: NO_SLOTS,
    steps: null,
    suspension: null,
    attempt: 0,
    failures: 0,
    resends: 0,
    crashes: 0,
    interruptions: 0,
    lease: null,
    progress: null,
    checkpoint: null,
    result: null,
    failure: null,
    forwardedTo: null,
    endedAt: null,
  };
  return transition(job, 'added', now);
}

/** Returns whether a new job has only a queue, an id and data: all of a queue become the same but for id, data and number. */
export function isPlain(input: NewJob): boolean {
  const isUnnamed =
    input.name === undefined && input.tags === undefined && input.unique === undefined && input.onTaken === undefined;
  const isForNow = input.runAt === undefined && input.delayMs === undefined && input.draft === undefined;
  const isAlone = input.dependsOn === undefined;
  return isUnnamed && isForNow && isAlone && input.priority === undefined && input.policy === undefined;
}

/** What `created` returns for a plain job, from what it returned for another one at the same time. */
export function createdLike(template: Transition, { id, data }: PlainJob, seq: number): Transition {
  return { job: { ...template.job, id, data, seq }, row: template.row };
}

/** Commits a draft: its delay starts now. `runAt` equal to `createdAt` means that the producer gave no time. */
export function committed(job: Job, now: number): Transition {
  const due = dueAfter(now, job.delayMs ?? 0);
  const isGiven = job.runAt !== job.createdAt && job.runAt > due.runAt;
  const time = isGiven ? { runAt: job.runAt, delayMs: null } : due;
  return transition({ ...job, state: 'waiting', ...time }, 'committed', now);
}

// ── running ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface Claim {
  readonly now: number;
  readonly token: number;
  readonly worker: string;
  readonly leaseMs: number;
  /** Throttles that have room: the caller has checked. */
  readonly slots?: readonly string[];
  /** How many other jobs are coalesced into it. */
  readonly folded?: number;
}

/** Starts an attempt, or resumes a suspended one: with a new token, but under the same number. */
export function claimed(job: Job, { now, token, worker, leaseMs, slots = NO_SLOTS, folded = 0 }: Claim): Transition {
  const lease = {
    token,
    worker,
    ms: leaseMs,
    until: now + leaseMs,
    claimedAt: now,
    startedAt: null,
    pid: null,
    cancelAskedAt: null,
    pauseAskedAt: null,
  };
  const isResumed = job.suspension !== null;
  const attempt = isResumed ? job.attempt : job.attempt + 1;
  const next: Job = {
    ...job,
    state: 'running',
    attempt,
    lease,
    slots,
    folded,
    coalesceKey: null,
    returnedAt: null,
    progress: null,
  };
  return transition(next, isResumed ? 'resumed' : 'claimed', now, { token, by: worker });
}

/** Returns whether a token belongs to the job's current attempt. The clock has no influence. */
export function holds(job: Job | undefined, token: number): job is RunningJob {
  return job !== undefined && isRunning(job) && job.lease.token === token;
}

/** Applies a heartbeat. It is not history: it leaves no row. */
export function renewed(job: RunningJob, beat: Heartbeat, now: number): RunningJob {
  const ms = beat.leaseMs ?? job.lease.ms;
  const started = beat.started !== undefined && job.lease.startedAt === null;
  const lease = {
    ...job.lease,
    ms,
    until: now + ms,
    startedAt: started ? now : job.lease.startedAt,
    pid: beat.started === undefined ? job.lease.pid : beat.started.pid,
  };
  return {
    ...job,
    lease,
    progress: beat.progress === undefined ? job.progress : { ...beat.progress, at: now },
    checkpoint: beat.checkpoint ?? job.checkpoint,
    data: beat.data ?? job.data,
  };
}

// ── the end of an attempt ────────────────────────────────────────────────────────────────────────────────────

/** The history event of each kind of settlement in the plain case. */
const SETTLEMENT_EVENTS: Record<SettlementKind, HistoryEvent> = {
  complete: 'completed',
  fail: 'failed',
  retry: 'retried',
  resend: 'resent',
  release: 'released',
  crash: 'lost',
  forward: 'forwarded',
  suspend: 'suspended',
};

export function settled(job: RunningJob, settlement: Settlement, settings: QueueSettings, now: number): Transition {
  const { token, worker } = job.lease;
  const details = { token, by: worker };
  if (job.lease.cancelAskedAt !== null) {
    return transition(ended(job, 'cancelled', now), 'cancelled', now, { ...details, note: cancelNote(settlement) });
  }
  switch (settlement.kind) {
    case 'complete':
      return completed(job, settlement, now, details);
    case 'forward': {
      const done = { ...ended(job, 'done', now), forwardedTo: settlement.address, failure: null };
      return transition(done, 'forwarded', now, { ...details, note: settlement.address });
    }
    case 'fail':
    case 'retry':
      return failed(job, settlement, settings, now);
    case 'resend':
      return resent(job, settlement, settings, now);
    case 'crash':
      return lost(job, settings, now, settlement.reason);
    case 'suspend':
      return suspended(job, settlement, now);
    case 'release': {
      const next = { ...returned(job, now, dueAfter(now, 0)), interruptions: job.interruptions + 1 };
      return transition(next, 'released', now, { ...details, note: settlement.reason });
    }
  }
}

/** Suspends an attempt: the job waits without a lease, and the run time so far is kept for the resumed attempt. */
function suspended(job: RunningJob, settlement: Settlement & { kind: 'suspend' }, now: number): Transition {
  const { until, event, children } = settlement;
  const { token, worker: by, claimedAt } = job.lease;
  const ranMs = (job.suspension?.ranMs ?? 0) + Math.max(0, now - claimedAt);
  const runAt = until ?? (event === null ? now : NEVER);
  const suspension = { until, event, ranMs };
  const note = children === null ? suspensionText(suspension) : `waiting for ${children.length} jobs`;
  const next: Job = { ...job, state: 'waiting', lease: null, runAt, delayMs: null, suspension };
  return transition(next, 'suspended', now, { token, by, note });
}

/** Names the settlement that ended a cancelled job. A release has its reason: for an abandoned attempt, that its code may still run. */
function cancelNote(settlement: Settlement): string {
  return settlement.kind === 'release' ? `release: ${settlement.reason}` : settlement.kind;
}

function completed(
  job: RunningJob,
  settlement: Settlement & { kind: 'complete' },
  now: number,
  details: RowDetails,
): Transition {
  const data = settlement.data ?? job.data;
  const { next } = settlement;
  if (next === undefined) {
    const outcome = { data, result: settlement.result ?? null, failure: null };
    return transition(ended(job, 'done', now, outcome), 'completed', now, details);
  }
  const there: Job = {
    ...restarted(job),
    data,
    queue: next.queue,
    ...dueAfter(now, next.delayMs),
    checkpoint: null,
    steps: null,
    failure: null,
    interruptions: 0,
  };
  return transition(there, 'advanced', now, { ...details, note: next.queue });
}

function failed(
  job: RunningJob,
  settlement: Settlement & { kind: 'fail' | 'retry' },
  settings: QueueSettings,
  now: number,
): Transition {
  const failures = job.failures + 1;
  const hasRetryLeft = failures <= (job.policy.retries ?? settings.retries);
  const details = { token: job.lease.token, by: job.lease.worker, note: settlement.failure.message };
  const event = SETTLEMENT_EVENTS[settlement.kind];
  if (hasRetryLeft && !(settlement.kind === 'fail' && settlement.final === true)) {
    const later: Job = {
      ...job,
      state: 'waiting',
      lease: null,
      suspension: null,
      failures,
      failure: settlement.failure,
      ...dueAfter(now, settlement.delayMs),
    };
    return transition(later, event, now, details);
  }
  const group =
    settlement.kind === 'retry' ? (settings.exhaustedGroup ?? settlement.failure.group) : settlement.failure.group;
  return transition(
    { ...ended(job, 'failed', now), failures, failure: { ...settlement.failure, group } },
    event,
    now,
    details,
  );
}

function resent(
  job: RunningJob,
  settlement: Settlement & { kind: 'resend' },
  settings: QueueSettings,
  now: number,
): Transition {
  const details = { token: job.lease.token, by: job.lease.worker, note: settlement.reason };
  if (job.resends >= (job.policy.maxResends ?? settings.maxResends)) {
    const failure: Failure = { group: 'resends', message: 'hit the limit of resends', detail: settlement.reason };
    return transition({ ...ended(job, 'failed', now), failure }, 'resent', now, details);
  }
  const resends = job.resends + 1;
  const due = dueAfter(now, settlement.delayMs);
  const later: Job = { ...job, state: 'waiting', lease: null, suspension: null, resends, ...due };
  return transition(later, 'resent', now, details);
}

/** Returns whether the row that ended an attempt is this settlement, repeated: it then gets the first answer again. */
export function isSameSettlement(row: HistoryRow, kind: SettlementKind): boolean {
  if (row.event === 'cancelled') return row.note === kind || (row.note?.startsWith(`${kind}: `) ?? false);
  return row.event === SETTLEMENT_EVENTS[kind] || (kind === 'complete' && row.event === 'advanced');
}

/** Returns the history row that records the content of a stale settlement. */
export function lateRow(job: Job, settlement: Settlement, now: number): HistoryRow {
  const note = `${settlement.kind}: ${lateText(settlement)}`;
  return transition(job, 'late', now, { token: settlement.token, note }).row;
}

function lateText(settlement: Settlement): string {
  switch (settlement.kind) {
    case 'complete':
      return settlement.result ?? '';
    case 'fail':
    case 'retry':
      return settlement.failure.message;
    case 'resend':
    case 'release':
    case 'crash':
      return settlement.reason;
    case 'forward':
      return settlement.address;
    case 'suspend':
      return settlement.event ?? '';
  }
}

// ── loss ─────────────────────────────────────────────────────────────────────────────────────────────────────

export function isExpired(job: Job, settings: QueueSettings, { now, gap }: Moment): boolean {
  return isRunning(job) && settings.onLost !== 'hold' && now >= expiryOf(job, settings, gap);
}

/**
 * Returns when the lease may be taken. A lease that ended while the store had no call at all gets its whole length
 * again, because its holder had no way to renew it.
 */
export function expiryOf({ lease }: RunningJob, settings: QueueSettings, gap: Gap): number {
  const until = gap.from < lease.until ? Math.max(lease.until, gap.to + lease.ms) : lease.until;
  return until + settings.lostGraceMs;
}

/** Restarts a lease from the new now after the store's clock went back. */
export function restartedLease(job: RunningJob, now: number): RunningJob {
  return { ...job, lease: { ...job.lease, until: now + job.lease.ms } };
}

/**
 * Rebases a delay after the store's clock went back, at `from`: a delay counted from a time in the future counts from
 * there. A run time that the producer gave stays unchanged.
 */
export function rebased<Kind extends Job>(job: Kind, { from, now }: { from: number; now: number }): Kind {
  const delayMs = job.delayMs ?? (job.runAt === job.createdAt ? 0 : null);
  if (delayMs === null || job.runAt <= now + delayMs) return job;
  return { ...job, ...dueAfter(from, delayMs) };
}

/** Returns whether a running job has an expired lease and waits for an operator. */
export function isHeld(job: Job, settings: QueueSettings, now: number): boolean {
  return isRunning(job) && settings.onLost === 'hold' && now >= job.lease.until;
}

/** Ends an attempt whose worker is lost: its lease expired, or an operator failed the worker. */
export function lost(job: RunningJob, settings: QueueSettings, now: number, why: string): Transition {
  const details = { token: job.lease.token, by: job.lease.worker, note: why };
  if (job.lease.cancelAskedAt !== null) return transition(ended(job, 'cancelled', now), 'cancelled', now, details);
  if (settings.onLost === 'fail') {
    const failure: Failure = { group: 'lost', message: why, detail: null };
    return transition({ ...ended(job, 'failed', now), failure }, 'lost', now, details);
  }
  return settings.lostCountsAs === 'failure'
    ? lostAsFailure(job, settings, now, details)
    : lostAsCrash(job, settings, now, details);
}

function lostAsCrash(job: RunningJob, settings: QueueSettings, now: number, details: RowDetails): Transition {
  const crashes = job.crashes + 1;
  if (crashes >= settings.maxCrashes) {
    const failure: Failure = {
      group: 'crashed',
      message: `its worker was lost ${crashes} times`,
      detail: details.note ?? null,
    };
    return transition({ ...ended(job, 'failed', now), crashes, failure }, 'lost', now, details);
  }
  const back = returned(job, Math.min(job.lease.until, now), dueAfter(now, crashDelayMs(crashes)));
  return transition({ ...back, crashes }, 'lost', now, details);
}

function lostAsFailure(job: RunningJob, settings: QueueSettings, now: number, details: RowDetails): Transition {
  const failures = job.failures + 1;
  if (failures <= (job.policy.retries ?? settings.retries)) {
    const back = returned(job, Math.min(job.lease.until, now), dueAfter(now, 0));
    return transition({ ...back, failures }, 'lost', now, details);
  }
  const failure: Failure = { group: settings.exhaustedGroup ?? 'lost', message: details.note ?? '', detail: null };
  return transition({ ...ended(job, 'failed', now), failures, failure }, 'lost', now, details);
}

// ── operator calls ───────────────────────────────────────────────────────────────────────────────────────────

/** Cancels a job. A running job gets a cancel request for its worker, unless no worker is left to act on it. */
export function cancelled(job: Job, context: { now: number; isAbandoned: boolean }): Transition | RefusalCode {
  const { now, isAbandoned } = context;
  if (job.state === 'done' || job.state === 'failed') return 'wrong-state';
  if (!isRunning(job)) return transition(ended(job, 'cancelled', now), 'cancelled', now);
  const { token, worker: by } = job.lease;
  if (isAbandoned)
    return transition(ended(job, 'cancelled', now), 'cancelled', now, { token, by, note: 'no worker was running it' });
  return transition({ ...job, lease: { ...job.lease, cancelAskedAt: now } }, 'cancel-asked', now, { token });
}

/** Returns the job to a queue at an operator's request: budgets restart, attempt numbers continue. */
export function requeued(
  job: Job,
  request: Requeue,
  context: { now: number; isHeld: boolean },
): Transition | RefusalCode {
  const isStolen = request.steal === true && (job.state === 'waiting' || isRunning(job));
  if (!isEnded(job.state) && !context.isHeld && !isStolen) return 'wrong-state';
  const isFresh = job.state === 'done' || request.fresh === true;
  const next: Job = {
    ...restarted(job),
    queue: request.queue ?? job.queue,
    ...dueAfter(context.now, request.delayMs ?? 0),
    checkpoint: isFresh ? null : job.checkpoint,
    steps: isFresh ? null : job.steps,
    interruptions: isRunning(job) ? job.interruptions + 1 : job.interruptions,
  };
  return transition(next, 'requeued', context.now, { token: job.lease?.token ?? null });
}

export function moved(job: Job, request: Move, now: number): Transition | RefusalCode {
  const isStolen = isRunning(job) && request.steal === true;
  if (job.state !== 'waiting' && job.state !== 'draft' && !isStolen) return 'wrong-state';
  const token = job.lease?.token ?? null;
  const next: Job = {
    ...job,
    queue: request.queue,
    state: job.state === 'draft' ? 'draft' : 'waiting',
    lease: null,
    progress: null,
    suspension: isStolen ? null : job.suspension,
    freedAt: isStolen ? now : job.freedAt,
    returnedAt: null,
    foldedInto: null,
    interruptions: isStolen ? job.interruptions + 1 : job.interruptions,
  };
  return transition(next, 'moved', now, { token, note: request.queue });
}

export function changed(job: Job, request: JobChanges, now: number): Transition | RefusalCode {
  const isOpen = job.state === 'waiting' || job.state === 'draft';
  const needsOpen = request.data !== undefined || request.runAt !== undefined || request.dependsOn !== undefined;
  if (!isOpen && needsOpen) return 'wrong-state';
  if (isEnded(job.state) && request.priority !== undefined) return 'wrong-state';
  if (!isRunning(job) && request.pause !== undefined) return 'wrong-state';
  const next: Job = {
    ...job,
    priority: request.priority ?? job.priority,
    tags: request.tags ?? job.tags,
    ...(request.runAt !== undefined && withRunAt(job, request.runAt, now)),
    delayMs: request.runAt === undefined || job.state === 'draft' ? job.delayMs : null,
    name: request.name ?? job.name,
    data: request.data ?? job.data,
    foldedInto: needsOpen ? null : job.foldedInto,
    lease:
      job.lease === null || request.pause === undefined
        ? job.lease
        : { ...job.lease, pauseAskedAt: request.pause ? now : null },
  };
  return transition(next, 'changed', now, { note: request.note ?? null });
}

/** Removes the result of a job that retention keeps. */
export function withoutResult(job: Job, now: number): Transition {
  return transition({ ...job, result: null }, 'changed', now, { note: RESULT_PRUNED });
}

/** Applies a later job to the waiting holder of its unique key. Returns undefined if the holder stays unchanged. */
export function replacedBy(job: Job, later: NewJob, now: number): Transition | undefined {
  const { onTaken, data, delayMs = 0 } = later;
  if (onTaken === undefined || job.state !== 'waiting' || isSuspended(job)) return undefined;
  const latest = onTaken.maxWaitMs === null ? Number.POSITIVE_INFINITY : job.createdAt + onTaken.maxWaitMs;
  if (onTaken.kind === 'replace') return transition({ ...job, data, foldedInto: null }, 'changed', now);
  const runAt = Math.min(later.runAt ?? now + delayMs, latest);
  const delay = runAt === later.runAt ? null : Math.max(0, runAt - now);
  const time = { ...withRunAt(job, runAt, now), delayMs: delay };
  return transition({ ...job, data, ...time, foldedInto: null }, 'changed', now);
}

/** Sets another run time. A job that is moved into the past counts as waiting since its old run time or now. */
function withRunAt(job: Job, runAt: number, now: number): Pick<Job, 'runAt' | 'freedAt'> {
  const dueAt = Math.min(job.runAt, now);
  const isEarlier = job.state === 'waiting' && runAt < dueAt && dueAt > readySince({ ...job, runAt });
  return { runAt, freedAt: isEarlier ? dueAt : job.freedAt };
}

// ── shared shapes ────────────────────────────────────────────────────────────────────────────────────────────

function ended(job: Job, state: EndedState, now: number, outcome: Pick<Job, 'data' | 'result' | 'failure'> = job): Job {
  const { data, result, failure } = outcome;
  // The children of a done job no longer wait for it (dependencies.ts).
  const dependents = state === 'done' ? 0 : job.dependents;
  // biome-ignore format: one line a thought
  return {
    ...job, state, endedAt: now, dependents, data, result, failure,
    lease: null, returnedAt: null, foldedInto: null, suspension: null,
  };
}

/** Returns a job to the front of its queue. `since` orders it among other returned jobs. */
function returned(job: Job, since: number, due: Due): Job {
  return { ...job, state: 'waiting', lease: null, suspension: null, returnedAt: since, ...due };
}

type Due = Pick<Job, 'runAt' | 'delayMs'>;

function dueAfter(now: number, delayMs: number): Due {
  return { runAt: now + delayMs, delayMs };
}

function restarted(job: Job): Job {
  return {
    ...job,
    state: 'waiting',
    lease: null,
    suspension: null,
    returnedAt: null,
    foldedInto: null,
    failures: 0,
    resends: 0,
    crashes: 0,
    progress: null,
    result: null,
    failure: null,
    forwardedTo: null,
    endedAt: null,
  };
}

// ── unique keys ──────────────────────────────────────────────────────────────────────────────────────────────

/** Returns the address of a unique key. Keys of a queue and keys of the store never collide. */
export function keyAddress(unique: UniqueKey, queue: string): string {
  return unique.scope === 'store' ? `s:${unique.key}` : `q:${queue}:${unique.key}`;
}

/** Returns whether a job in this state releases the key it took when it was added, committed, requeued or moved. */
export function releasesKey(unique: UniqueKey, state: JobState): boolean {
  if (unique.until === 'period') return false;
  return isEnded(state) || (unique.until === 'started' && state === 'running');
}

// ── order ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Returns whether this event makes a job enter the queue, so that it gets a new turn. */
export function takesTurn({ event, state }: HistoryRow): boolean {
  return state === 'waiting' && (event === 'added' || ENTRY_EVENTS.includes(event));
}

const ENTRY_EVENTS: readonly HistoryEvent[] = ['committed', 'advanced', 'requeued', 'moved'];

/** Orders jobs for claims: returned work first, longest returned first; then priority, turn, run time and insertion. */
export function claimOrder(a: Job, b: Job): number {
  if (a.returnedAt !== null && b.returnedAt !== null) return a.returnedAt - b.returnedAt || a.seq - b.seq;
  if (a.returnedAt !== null) return -1;
  if (b.returnedAt !== null) return 1;
  return a.priority - b.priority || a.turn - b.turn || a.runAt - b.runAt || a.seq - b.seq;
}
