/** A job as qless answers it: its names, its states, its times in seconds, and the higher priority number first. */
import type { HistoryRow } from '../../core/job/history.ts';
import type { Job } from '../../core/job/job.ts';
import { isBlocked, isRunning } from '../../core/job/job.ts';
import { ID_PATTERN } from '../../core/job/names.ts';
import { TRACKED_RECORD } from '../../core/job/tracked-jobs.ts';
import type { Call } from './arguments.ts';
import { raise } from './arguments.ts';
import { DEFAULT_RETRIES, exhaustedGroup } from './config.ts';
import type { HistoryItem } from './qless-history.ts';
import { historyOf, lastFailure } from './qless-history.ts';

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
  /** The throttles of which it needs a slot. */
  readonly throttles: readonly string[];
}

const MOST_RELATIVES = 100_000;
const SCHEDULE_TAG = /^schedule:/;

/** Null where there is none, or where it was canceled: qless forgets those at once. */
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
  const [rows, mark, [brake], family] = await Promise.all([
    jobs.history(job.id),
    records.get(TRACKED_RECORD, job.id),
    jobs.insight({ kind: 'brakes', ids: [job.id] }),
    familyOf(call, job),
  ]);
  const retries = job.policy.retries ?? DEFAULT_RETRIES;
  return {
    jid: job.id,
    klass: job.name ?? '',
    state: stateOf(job, call.nowMs, brake !== null),
    queue: job.state === 'done' ? '' : job.queue,
    worker: job.lease?.worker ?? '',
    tracked: mark !== null,
    priority: flipped(job.priority),
    expires: (job.lease?.until ?? 0) / 1_000,
    retries,
    remaining: retries - job.failures,
    data: job.data,
    tags: tagsOf(job),
    history: historyOf(job, rows),
    failure: failureOf(job, rows),
    spawned_from_jid: scheduleOf(job),
    ...family,
    throttles: job.policy.throttles ?? [],
  };
}

/** Never -0, which is no JSON. */
export const flipped = (priority: number): number => (priority === 0 ? 0 : -priority);

export const tagsOf = ({ tags }: Job): readonly string[] => tags.filter((tag) => !SCHEDULE_TAG.test(tag));

function scheduleOf({ tags }: Job): string | false {
  return tags.find((tag) => SCHEDULE_TAG.test(tag))?.replace(SCHEDULE_TAG, '') ?? false;
}

export function stateOf(job: Job, nowMs: number, isThrottled = false): string {
  if (isRunning(job)) return job.lease.until <= nowMs ? 'stalled' : 'running';
  if (job.state === 'done') return 'complete';
  if (job.state !== 'waiting') return job.state;
  if (isBlocked(job)) return 'depends';
  if (job.runAt > nowMs) return 'scheduled';
  if (job.returnedAt !== null) return 'stalled';
  return isThrottled ? 'throttled' : 'waiting';
}

/** A retry without a group and a message leaves none, as long as there are some left. */
function failureOf({ failure, state, queue }: Job, rows: readonly HistoryRow[]): Readonly<Record<string, unknown>> {
  if (failure === null || (state !== 'failed' && failure.group === exhaustedGroup(queue))) return {};
  const isExhausted = failure.group === exhaustedGroup(queue) && failure.message === LOST_WORDS;
  const message = isExhausted ? exhaustedWords(queue) : failure.message;
  return { group: failure.group, message, ...lastFailure(rows) };
}

/** The core's own words for a lease that nobody renewed. */
const LOST_WORDS = 'its lease was not renewed';
export const exhaustedWords = (queue: string): string => `Job exhausted retries in queue "${queue}"`;

/** As long as they wait for one another. */
async function familyOf(call: Call, job: Job): Promise<Pick<QlessJob, 'dependents' | 'dependencies'>> {
  const ids = async (query: { parent: string } | { child: string }): Promise<readonly string[]> => {
    const { jobs } = call.longhaul.store;
    const page = await jobs.list({ ...query, order: 'newest', limit: MOST_RELATIVES });
    return page.jobs.filter(({ state }) => state !== 'done').map(({ id }) => id);
  };
  return {
    dependents: job.dependents === 0 ? [] : await ids({ parent: job.id }),
    dependencies: isBlocked(job) ? await ids({ child: job.id }) : [],
  };
}
