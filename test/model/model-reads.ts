/** The reads of the port in the model: each searches everything. */
import { ENDED_STATES, JOB_STATES, type Job } from '../../src/core/job/job.ts';
import { labelOf } from '../../src/core/job/label.ts';
import type { FailureGroup, JobQuery, QueueCounts, StateCounts, WorkerRecord } from '../../src/core/ports/job-store.ts';
import type { QueueStorage, StoredSize } from '../../src/core/statistics/storage.ts';
import type { Model } from './model.ts';
import { trendOf } from './model-statistics.ts';

/** Returns a whole list; the comparison splits it into pages. */
export function list(model: Model, query: Omit<JobQuery, 'limit' | 'after'>, now: number): readonly Job[] {
  if (query.order === 'claim') return model.ready(query.queue ?? '', now);
  return model.jobs.filter((job) => isWanted(model, query, job, now)).sort((a, b) => b.seq - a.seq);
}

function isWanted(model: Model, query: Omit<JobQuery, 'limit' | 'after'>, job: Job, now: number): boolean {
  const { queue, state, tag, name, worker, group, since, before, label, parent, child } = query;
  const checks = [
    queue === undefined || job.queue === queue,
    state === undefined || job.state === state,
    tag === undefined || job.tags.some((each) => each === tag),
    name === undefined || job.name === name,
    worker === undefined || (job.lease !== null && job.lease.worker === worker),
    group === undefined || (job.state === 'failed' && job.failure !== null && job.failure.group === group),
    parent === undefined || model.edges.some((edge) => edge.from === model.get(parent)?.seq && edge.to === job.seq),
    child === undefined || model.edges.some((edge) => edge.to === model.get(child)?.seq && edge.from === job.seq),
    since === undefined || since <= job.createdAt,
    before === undefined || job.createdAt < before,
    label === undefined || nameOf(model, job, now) === label,
  ];
  return checks.every(Boolean);
}

function nameOf(model: Model, job: Job, now: number): string {
  const { label } = labelOf(job, model.settings(job.queue), now);
  // Workers in the programs of the model register no capacity.
  const isFree =
    model.limits.needs(job) === '' &&
    model.limits.roomIn(job.queue, now) > 0 &&
    model.limits.hasRoom(job) &&
    model.limits.opensAt(job, now) === null;
  return label === 'ready' && !isFree ? 'throttled' : label;
}

export function count(model: Model, queue: string, now: number): QueueCounts {
  const states = Object.fromEntries(JOB_STATES.map((state) => [state, model.in(queue, state).length])) as StateCounts;
  const waiting = model.in(queue, 'waiting');
  const blocked = waiting.filter((job) => model.isBlocked(job)).length;
  const scheduled = waiting.filter((job) => !model.isBlocked(job) && job.runAt > now).length;
  const relayed = model.in(queue, 'done').filter((job) => job.forwardedTo !== null).length;
  return { ...states, queue, blocked, scheduled, relayed };
}

/** Every text is encoded and measured. */
export function storage(model: Model, queue: string): QueueStorage {
  const bytes = (text: string | null): number => Buffer.byteLength(text ?? '');
  const held = (jobs: readonly Job[], of: (job: Job) => number): StoredSize => ({
    count: jobs.length,
    bytes: jobs.reduce((sum, job) => sum + of(job), 0),
  });
  const whole = (job: Job): number =>
    bytes(job.data) + bytes(job.result) + bytes(job.checkpoint) + (job.steps?.bytes ?? 0);
  const [done, failed, cancelled] = ENDED_STATES.map((state) => model.in(queue, state)) as [Job[], Job[], Job[]];
  return {
    queue,
    done: held(done, whole),
    failed: held(failed, whole),
    cancelled: held(cancelled, whole),
    results: held(
      done.filter(({ result }) => result !== null),
      ({ result }) => bytes(result),
    ),
    logs: { count: 0, bytes: 0 },
  };
}

/** Largest first, then by queue, then by name. */
export function failures(model: Model, queues: readonly string[], now: number): readonly FailureGroup[] {
  const groups: FailureGroup[] = [];
  for (const queue of queues) {
    const failed = [...model.in(queue, 'failed')].sort((a, b) => endOf(a) - endOf(b) || a.seq - b.seq);
    for (const group of new Set(failed.map((job) => job.failure?.group ?? ''))) {
      const members = failed.filter((job) => (job.failure?.group ?? '') === group);
      const [first, last] = [members[0] as Job, members.at(-1) as Job];
      const times = { firstAt: endOf(first), lastAt: endOf(last) };
      const trend = trendOf(model, { queue, group, now });
      groups.push({ queue, group, count: members.length, ...times, sampleId: last.id, trend });
    }
  }
  const name = ({ queue, group }: FailureGroup): string => `${queue} ${group}`;
  return groups.sort((a, b) => b.count - a.count || (name(a) < name(b) ? -1 : 1));
}

const endOf = (job: Job): number => (ENDED_STATES.some((state) => state === job.state) ? (job.endedAt ?? 0) : 0);

/** Sorted by id, and so are the ids of their jobs. */
export function workers(model: Model, now: number): readonly WorkerRecord[] {
  const known = [...model.workers].sort((a, b) => (a.id < b.id ? -1 : 1));
  return known.map((worker) => {
    const running = model.running().filter((job) => job.lease.worker === worker.id);
    return { ...worker, isLost: worker.until <= now, running: running.map(({ id }) => id).sort() };
  });
}
