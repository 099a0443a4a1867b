/** A job as qless shows it: its names and states, times in seconds, and the higher priority number first. */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Failure, Job } from '../../core/job/job.ts';
import { isBlocked, isRunning } from '../../core/job/job.ts';
import { ID_PATTERN } from '../../core/job/names.ts';
import { TRACKED_RECORD } from '../../core/job/tracked-jobs.ts';
import type { Call } from './arguments.ts';
import { raise } from './arguments.ts';
import { type Config, DEFAULT_RETRIES, exhaustedGroup, heartbeatMs, readConfig } from './config.ts';
import type { HistoryItem, QlessFailure } from './qless-history.ts';
import { earlierFailure, expiredAt, historyOf, lastFailure, RETRIES_EXHAUSTED } from './qless-history.ts';

/** A job as qless's final API returns it. */
export interface QlessJob {
  /** Its id. */
  readonly jid: string;
  /** The name of its class. */
  readonly klass: string;
  /** Its state. */
  readonly state: string;
  /** Its queue; empty once it is complete. */
  readonly queue: string;
  /** The worker that runs it; empty for none. */
  readonly worker: string;
  /** Whether it is tracked. */
  readonly tracked: boolean;
  /** Its priority; higher runs first. */
  readonly priority: number;
  /** When its lock expires, in seconds. */
  readonly expires: number;
  /** How often it may be retried. */
  readonly retries: number;
  /** How many retries are left. */
  readonly remaining: number;
  /** Its data, as JSON text. */
  readonly data: string;
  /** Its tags. */
  readonly tags: readonly string[];
  /** What happened to it. */
  readonly history: readonly HistoryItem[];
  /** Its last failure; empty for none. */
  readonly failure: Readonly<Record<string, unknown>>;
  /** The recurring job that created it; false for none. */
  readonly spawned_from_jid: string | false;
  /** The jobs that wait for it. */
  readonly dependents: readonly string[];
  /** The jobs that it waits for. */
  readonly dependencies: readonly string[];
  /** The throttles of which it needs a slot, its queue's own last. Only in answers to commands of reqless. */
  readonly throttles?: readonly string[];
}

const MOST_RELATIVES = 100_000;
const SCHEDULE_TAG = /^schedule:/;

/** Returns null if there is none, or if it was canceled: qless forgets those at once. */
export async function findJob({ longhaul }: Call, jid: string): Promise<Job | null> {
  if (!ID_PATTERN.test(jid)) return null;
  const [job] = await longhaul.store.jobs.find([jid]);
  return job === undefined || job === null || job.state === 'cancelled' ? null : job;
}

export async function needJob(call: Call, jid: string, command: string): Promise<Job> {
  return (await findJob(call, jid)) ?? raise(`${command}(): Job ${jid} does not exist`);
}

export async function jobsToJson(call: Call, jobs: readonly Job[]): Promise<readonly QlessJob[]> {
  return Promise.all(jobs.map((job) => jobToJson(call, job)));
}

export async function jobToJson(call: Call, job: Job): Promise<QlessJob> {
  const { jobs, records } = call.longhaul.store;
  const mayThrottle = call.dialect === 'reqless' && job.state === 'waiting';
  const [rows, mark, [brake = null], family, config] = await Promise.all([
    jobs.history(job.id),
    records.get(TRACKED_RECORD, job.id),
    mayThrottle ? jobs.insight({ kind: 'brakes', ids: [job.id] }) : [],
    familyOf(call, job),
    readConfig(call),
  ]);
  const retries = retriesOf(job);
  const most = Number(config['max-job-history']);
  return {
    jid: job.id,
    klass: job.name ?? '',
    state: stateOf(job, call.nowMs, brake !== null),
    queue: job.state === 'done' ? '' : job.queue,
    worker: job.lease?.worker ?? '',
    tracked: mark !== null,
    priority: flipped(job.priority),
    expires: expiresOf(job, rows, config) / 1_000,
    retries,
    remaining: retries - job.failures + (isFailedByWorker(job, rows) ? 1 : 0),
    data: job.data,
    tags: tagsOf(job),
    history: historyOf(job, rows, { dialect: call.dialect, most }),
    failure: { ...failureOf(job, rows) },
    spawned_from_jid: scheduleOf(job),
    ...family,
    ...(call.dialect === 'reqless' && { throttles: [...(job.policy.throttles ?? []), queueThrottle(job.queue)] }),
  };
}

/** A grace period does not change when the lock expired. A heartbeat of less than 0 ends a lock before it is given. */
function expiresOf({ lease, queue }: Job, rows: readonly HistoryRow[], config: Config): number {
  if (lease === null) return 0;
  if (lease.ms === 0) return lease.claimedAt + Math.min(0, heartbeatMs(config, queue));
  return expiredAt(rows, lease) ?? lease.until;
}

export const retriesOf = ({ policy }: Job): number => policy.retries ?? DEFAULT_RETRIES;

/** The throttle that every job of a queue has in reqless. */
export const queueThrottle = (queue: string): string => `ql:q:${queue}`;

/** `fail` uses up no retry; Longhaul counts it as a failure. */
function isFailedByWorker({ state, failure }: Job, rows: readonly HistoryRow[]): boolean {
  const last = rows.findLast(({ event }) => event === 'failed' || event === 'lost' || event === 'retried');
  return state === 'failed' && last?.event === 'failed' && failure?.detail !== RETRIES_EXHAUSTED;
}

/** Never -0, which is no JSON. */
export const flipped = (priority: number): number => (priority === 0 ? 0 : -priority);

export const tagsOf = ({ tags }: Job): readonly string[] => tags.filter((tag) => !SCHEDULE_TAG.test(tag));

/** Returns these tags for a job, beside the one that names the recurring job that created it. */
export function retagged({ tags }: Job, given: readonly string[]): readonly string[] {
  return [...new Set([...given, ...tags.filter((tag) => SCHEDULE_TAG.test(tag))])];
}

export function scheduleOf({ tags }: Job): string | false {
  return tags.find((tag) => SCHEDULE_TAG.test(tag))?.replace(SCHEDULE_TAG, '') ?? false;
}

/** A job whose lock expired counts as running until a pop takes it back. */
export function stateOf(job: Job, nowMs: number, isThrottled = false): string {
  if (isRunning(job)) return 'running';
  if (job.state === 'done') return 'complete';
  if (job.state !== 'waiting') return job.state;
  if (isBlocked(job)) return 'depends';
  if (job.runAt > nowMs) return 'scheduled';
  if (job.returnedAt !== null) return 'stalled';
  return isThrottled ? 'throttled' : 'waiting';
}

/** A retry without a group and a message leaves no failure as long as retries are left. */
export function failureOf(job: Job, rows: readonly HistoryRow[]): QlessFailure | null {
  const { failure, state, queue } = job;
  if (failure === null || (state !== 'failed' && failure.group === exhaustedGroup(queue)))
    return state === 'done' ? null : earlierFailure(rows);
  return { group: failure.group, message: failureMessage(failure, queue), ...lastFailure(rows) };
}

/** The core's own text for a lease that was not renewed. */
const LOST_REASON = 'its lease was not renewed';
export const exhaustedMessage = (queue: string): string => `Job exhausted retries in queue "${queue}"`;

/** Returns one text for exhausted retries. */
export function failureMessage({ group, message }: Failure, queue: string): string {
  return group === exhaustedGroup(queue) && message === LOST_REASON ? exhaustedMessage(queue) : message;
}

/** Returns the jobs that wait for this one, and those that it waits for. */
async function familyOf(call: Call, job: Job): Promise<Pick<QlessJob, 'dependents' | 'dependencies'>> {
  const ids = async (query: { parent: string } | { child: string }): Promise<readonly string[]> => {
    const { jobs } = call.longhaul.store;
    const page = await jobs.list({ ...query, order: 'newest', limit: MOST_RELATIVES });
    return page.jobs.filter(({ state }) => state !== 'done' && state !== 'cancelled').map(({ id }) => id);
  };
  return {
    dependents: job.dependents === 0 ? [] : await ids({ parent: job.id }),
    dependencies: isBlocked(job) ? await ids({ child: job.id }) : [],
  };
}
