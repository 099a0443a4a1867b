// Long because it is the one place that decides, and a reader wants a job's whole life on one page.
/**
 * The place that decides. Every change in a job's life is one of these pure functions; a store only keeps what
 * they answer (memory, sqlite) or restates them where it must (redis, in Lua; the model suite holds the two equal).
 *
 *     draft ──commit──▶ waiting ──claim──▶ running ──complete, forward──▶ done
 *                        ▲  ▲               │ │ │ └──fail, none left────▶ failed
 *                        │  │               │ │ └─fail, retry, resend───▶ waiting (runAt later)
 *                        │  │               │ └──release, lost──────────▶ waiting (at the front)
 *                        │  │               └───complete with next──────▶ waiting there (counters at 0)
 *                        │  └── requeue ── done, failed, cancelled, running when held
 *                        └ move ── waiting, draft     cancel ── draft, waiting, running ──▶ cancelled
 *
 * What follows from it for the jobs that wait for this one is in dependencies.ts.
 *
 * Nothing here reads a clock, draws a number or touches a store. A function that may say no returns a refusal
 * code; one that may not is only called when its caller has checked.
 */

import type { HistoryEvent, HistoryRow } from '../job/history.ts';
import { MAX_NOTE_LENGTH, RESULT_PRUNED } from '../job/history.ts';
import type { Failure, Job, JobState, Parents, RunningJob, UniqueKey } from '../job/job.ts';
import { isEnded, isRunning, NO_SLOTS, readySince } from '../job/job.ts';
import type { Heartbeat, JobChanges, Move, NewJob, Requeue, Settlement, SettlementKind } from '../ports/job-store.ts';
import type { RefusalCode } from '../ports/refusal.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { crashDelayMs } from './backoff.ts';
import type { Gap, Moment } from './clock.ts';

/** A job's next record and the row that says why. */
export interface Transition {
  readonly job: Job;
  readonly row: HistoryRow;
}

interface RowDetails {
  readonly token?: number | null;
  readonly by?: string | null;
  readonly note?: string | null;
}

/** Slots go with the lease, whatever ends it. */
export function transition(job: Job, event: HistoryEvent, at: number, details: RowDetails = {}): Transition {
  const { token = null, by = null, note = null } = details;
  const cut = note === null ? null : note.slice(0, MAX_NOTE_LENGTH);
  const row: HistoryRow = { at, event, state: job.state, attempt: job.attempt, token, by, note: cut };
  return { job: job.lease === null ? withoutLease(job) : job, row };
}

/** Of the jobs that were folded into it, only one that is done remembers the number. */
function withoutLease(job: Job): Job {
  const folded = job.state === 'done' ? job.folded : 0;
  return job.slots.length === 0 && job.folded === folded ? job : { ...job, slots: NO_SLOTS, folded };
}

// ── birth ────────────────────────────────────────────────────────────────────────────────────────────────────

interface Birth {
  readonly now: number;
  readonly seq: number;
  readonly settings: QueueSettings;
  /** Of the jobs it waits for. */
  readonly parents?: Parents | null;
}

export function born(input: NewJob, context: Birth): Transition {
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

/** A draft's delay starts now. One whose producer gave no time has that of its birth, which says nothing here. */
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
  /** Of throttles that have room: the caller has looked. */
  readonly slots?: readonly string[];
  /** How many others are folded into it. */
  readonly folded?: number;
}

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
  const attempt = job.attempt + 1;
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
  return transition(next, 'claimed', now, { token, by: worker });
}

/** Whether a call with this token speaks for the job's present attempt. The clock has no say in it. */
export function holds(job: Job | undefined, token: number): job is RunningJob {
  return job !== undefined && isRunning(job) && job.lease.token === token;
}

/** Not history: a heartbeat leaves no row. */
export function beaten(job: RunningJob, beat: Heartbeat, now: number): RunningJob {
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

/** The history event by which each kind of settlement is remembered when it takes its plain course. */
const ENDING: Record<SettlementKind, HistoryEvent> = {
  complete: 'completed',
  fail: 'failed',
  retry: 'retried',
  resend: 'resent',
  release: 'released',
  crash: 'lost',
  forward: 'forwarded',
};

export function settled(job: RunningJob, settlement: Settlement, settings: QueueSettings, now: number): Transition {
  const { token, worker } = job.lease;
  const details = { token, by: worker };
  if (job.lease.cancelAskedAt !== null) {
    return transition(ended(job, 'cancelled', now), 'cancelled', now, { ...details, note: settlement.kind });
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
    case 'release': {
      const next = { ...returned(job, now, dueAfter(now, 0)), interruptions: job.interruptions + 1 };
      return transition(next, 'released', now, { ...details, note: settlement.reason });
    }
  }
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
    const done = { ...ended(job, 'done', now), data, result: settlement.result ?? null, failure: null };
    return transition(done, 'completed', now, details);
  }
  const there: Job = {
    ...fresh(job),
    data,
    queue: next.queue,
    ...dueAfter(now, next.delayMs),
    checkpoint: null,
    failure: null,
    interruptions: 0,
  };
  return transition(there, 'advanced', now, { ...details, note: next.queue });
}

function failed(
  job: RunningJob,
  said: Settlement & { kind: 'fail' | 'retry' },
  settings: QueueSettings,
  now: number,
): Transition {
  const failures = job.failures + 1;
  const isLeft = failures <= (job.policy.retries ?? settings.retries);
  const details = { token: job.lease.token, by: job.lease.worker, note: said.failure.message };
  const event = ENDING[said.kind];
  if (isLeft && !(said.kind === 'fail' && said.final === true)) {
    const later: Job = {
      ...job,
      state: 'waiting',
      lease: null,
      failures,
      failure: said.failure,
      ...dueAfter(now, said.delayMs),
    };
    return transition(later, event, now, details);
  }
  const group = said.kind === 'retry' ? (settings.exhaustedGroup ?? said.failure.group) : said.failure.group;
  return transition(
    { ...ended(job, 'failed', now), failures, failure: { ...said.failure, group } },
    event,
    now,
    details,
  );
}

function resent(
  job: RunningJob,
  said: Settlement & { kind: 'resend' },
  settings: QueueSettings,
  now: number,
): Transition {
  const details = { token: job.lease.token, by: job.lease.worker, note: said.reason };
  if (job.resends >= (job.policy.maxResends ?? settings.maxResends)) {
    const failure: Failure = { group: 'resends', message: 'hit the limit of resends', detail: said.reason };
    return transition({ ...ended(job, 'failed', now), failure }, 'resent', now, details);
  }
  const resends = job.resends + 1;
  const later: Job = { ...job, state: 'waiting', lease: null, resends, ...dueAfter(now, said.delayMs) };
  return transition(later, 'resent', now, details);
}

/** Whether the row that ended an attempt is this settlement, said before: then it is answered the same again. */
export function isSameEnding(row: HistoryRow, kind: SettlementKind): boolean {
  if (row.event === 'cancelled') return row.note === kind;
  return row.event === ENDING[kind] || (kind === 'complete' && row.event === 'advanced');
}

/** What a stale settlement wanted to say, for the history. */
export function lateRow(job: Job, said: Settlement, now: number): HistoryRow {
  const words = `${said.kind}: ${lateWords(said)}`;
  return transition(job, 'late', now, { token: said.token, note: words }).row;
}

function lateWords(said: Settlement): string {
  switch (said.kind) {
    case 'complete':
      return said.result ?? '';
    case 'fail':
    case 'retry':
      return said.failure.message;
    case 'resend':
    case 'release':
    case 'crash':
      return said.reason;
    case 'forward':
      return said.address;
  }
}

// ── loss ─────────────────────────────────────────────────────────────────────────────────────────────────────

export function isOvertakable(job: Job, settings: QueueSettings, { now, gap }: Moment): boolean {
  return isRunning(job) && settings.onLost !== 'hold' && now >= expiryOf(job, settings, gap);
}

/** A lease that ended while the store saw nobody at all gets its whole length again: its holder had no way to renew it. */
export function expiryOf({ lease }: RunningJob, settings: QueueSettings, gap: Gap): number {
  const until = gap.from < lease.until ? Math.max(lease.until, gap.to + lease.ms) : lease.until;
  return until + settings.lostGraceMs;
}

/** After the store's clock went back: the lease starts again from the new now. */
export function restartedLease(job: RunningJob, now: number): RunningJob {
  return { ...job, lease: { ...job.lease, until: now + job.lease.ms } };
}

/**
 * After the store's clock went back, at `from`: a delay that was counted from a time which has not come counts from there.
 * A time that the producer gave stays as it is.
 */
export function rebased<Kind extends Job>(job: Kind, { from, now }: { from: number; now: number }): Kind {
  const delayMs = job.delayMs ?? (job.runAt === job.createdAt ? 0 : null);
  if (delayMs === null || job.runAt <= now + delayMs) return job;
  return { ...job, ...dueAfter(from, delayMs) };
}

/** A running job that nobody renews and that waits for an operator. */
export function isHeld(job: Job, settings: QueueSettings, now: number): boolean {
  return isRunning(job) && settings.onLost === 'hold' && now >= job.lease.until;
}

/** The attempt's worker is gone: its lease ended, or somebody failed the worker. */
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

// ── what people ask ──────────────────────────────────────────────────────────────────────────────────────────

/** A cancel of a running job leaves a mark for its worker, unless nobody is there to heed it. */
export function cancelled(job: Job, context: { now: number; isAbandoned: boolean }): Transition | RefusalCode {
  const { now, isAbandoned } = context;
  if (job.state === 'done' || job.state === 'failed') return 'wrong-state';
  if (!isRunning(job)) return transition(ended(job, 'cancelled', now), 'cancelled', now);
  const { token, worker: by } = job.lease;
  if (isAbandoned)
    return transition(ended(job, 'cancelled', now), 'cancelled', now, { token, by, note: 'nobody was running it' });
  return transition({ ...job, lease: { ...job.lease, cancelAskedAt: now } }, 'cancel-asked', now, { token });
}

/** Another life by an operator's word: budgets start anew, the numbering of attempts does not. */
export function requeued(job: Job, ask: Requeue, context: { now: number; isHeld: boolean }): Transition | RefusalCode {
  const isStolen = ask.steal === true && (job.state === 'waiting' || isRunning(job));
  if (!isEnded(job.state) && !context.isHeld && !isStolen) return 'wrong-state';
  const next: Job = {
    ...fresh(job),
    queue: ask.queue ?? job.queue,
    ...dueAfter(context.now, ask.delayMs ?? 0),
    checkpoint: job.state === 'done' ? null : job.checkpoint,
    interruptions: isRunning(job) ? job.interruptions + 1 : job.interruptions,
  };
  return transition(next, 'requeued', context.now, { token: job.lease?.token ?? null });
}

export function moved(job: Job, ask: Move, now: number): Transition | RefusalCode {
  const isStolen = isRunning(job) && ask.steal === true;
  if (job.state !== 'waiting' && job.state !== 'draft' && !isStolen) return 'wrong-state';
  const token = job.lease?.token ?? null;
  const next: Job = {
    ...job,
    queue: ask.queue,
    state: job.state === 'draft' ? 'draft' : 'waiting',
    lease: null,
    progress: null,
    freedAt: isStolen ? now : job.freedAt,
    returnedAt: null,
    foldedInto: null,
    interruptions: isStolen ? job.interruptions + 1 : job.interruptions,
  };
  return transition(next, 'moved', now, { token, note: ask.queue });
}

export function changed(job: Job, ask: JobChanges, now: number): Transition | RefusalCode {
  const isOpen = job.state === 'waiting' || job.state === 'draft';
  const needsOpen = ask.data !== undefined || ask.runAt !== undefined || ask.dependsOn !== undefined;
  if (!isOpen && needsOpen) return 'wrong-state';
  if (isEnded(job.state) && ask.priority !== undefined) return 'wrong-state';
  if (!isRunning(job) && ask.pause !== undefined) return 'wrong-state';
  const next: Job = {
    ...job,
    priority: ask.priority ?? job.priority,
    tags: ask.tags ?? job.tags,
    ...(ask.runAt !== undefined && movedTo(job, ask.runAt, now)),
    delayMs: ask.runAt === undefined || job.state === 'draft' ? job.delayMs : null,
    name: ask.name ?? job.name,
    data: ask.data ?? job.data,
    foldedInto: needsOpen ? null : job.foldedInto,
    lease:
      job.lease === null || ask.pause === undefined
        ? job.lease
        : { ...job.lease, pauseAskedAt: ask.pause ? now : null },
  };
  return transition(next, 'changed', now, { note: ask.note ?? null });
}

/** Retention took the result of a job that is kept. */
export function withoutResult(job: Job, now: number): Transition {
  return transition({ ...job, result: null }, 'changed', now, { note: RESULT_PRUNED });
}

/** What a later job makes of the one that waits with its unique key; nothing where that is to be kept as it is. */
export function replacedBy(job: Job, later: NewJob, now: number): Transition | undefined {
  const { onTaken, data, delayMs = 0 } = later;
  if (onTaken === undefined || job.state !== 'waiting') return undefined;
  const latest = onTaken.maxWaitMs === null ? Number.POSITIVE_INFINITY : job.createdAt + onTaken.maxWaitMs;
  if (onTaken.kind === 'replace') return transition({ ...job, data, foldedInto: null }, 'changed', now);
  const runAt = Math.min(later.runAt ?? now + delayMs, latest);
  const delay = runAt === later.runAt ? null : Math.max(0, runAt - now);
  const time = { ...movedTo(job, runAt, now), delayMs: delay };
  return transition({ ...job, data, ...time, foldedInto: null }, 'changed', now);
}

/** Another time for a job. One that is moved into the past does not wait since then, but since its old time or now. */
function movedTo(job: Job, runAt: number, now: number): Pick<Job, 'runAt' | 'freedAt'> {
  const dueAt = Math.min(job.runAt, now);
  const isEarlier = job.state === 'waiting' && runAt < dueAt && dueAt > readySince({ ...job, runAt });
  return { runAt, freedAt: isEarlier ? dueAt : job.freedAt };
}

// ── shapes that several of them share ────────────────────────────────────────────────────────────────────────

function ended(job: Job, state: 'done' | 'failed' | 'cancelled', now: number): Job {
  // Whoever waits for it waits no longer once it is done (dependencies.ts).
  const dependents = state === 'done' ? 0 : job.dependents;
  return { ...job, state, lease: null, endedAt: now, returnedAt: null, dependents, foldedInto: null };
}

/** Back in the queue, before everything else; `since` puts it in line among the others that came back. */
function returned(job: Job, since: number, due: Due): Job {
  return { ...job, state: 'waiting', lease: null, returnedAt: since, ...due };
}

type Due = Pick<Job, 'runAt' | 'delayMs'>;

function dueAfter(now: number, delayMs: number): Due {
  return { runAt: now + delayMs, delayMs };
}

function fresh(job: Job): Job {
  return {
    ...job,
    state: 'waiting',
    lease: null,
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

/** Where a key is looked up. A queue's keys and the store's never meet. */
export function keyAddress(unique: UniqueKey, queue: string): string {
  return unique.scope === 'store' ? `s:${unique.key}` : `q:${queue}:${unique.key}`;
}

/** Whether a job in this state lets go of the key it took when it was added, committed, requeued or moved. */
export function releasesKey(unique: UniqueKey, state: JobState): boolean {
  if (unique.until === 'period') return false;
  return isEnded(state) || (unique.until === 'started' && state === 'running');
}

// ── order ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether this event puts a job into line anew, so that it gets a new turn. */
export function takesTurn({ event, state }: HistoryRow): boolean {
  return state === 'waiting' && (event === 'added' || ENTERING.includes(event));
}

const ENTERING: readonly HistoryEvent[] = ['committed', 'advanced', 'requeued', 'moved'];

/** Returned work first and longest returned first; then priority, then turn, then time, then insertion. */
export function claimOrder(a: Job, b: Job): number {
  if (a.returnedAt !== null && b.returnedAt !== null) return a.returnedAt - b.returnedAt || a.seq - b.seq;
  if (a.returnedAt !== null) return -1;
  if (b.returnedAt !== null) return 1;
  return a.priority - b.priority || a.turn - b.turn || a.runAt - b.runAt || a.seq - b.seq;
}
