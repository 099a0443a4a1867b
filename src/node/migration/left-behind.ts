/**
 * Jobs that run during a migration, and the jobs related to them: they stay at the source until they end.
 *
 * A job that depends on a running job, or is coalesced into it, stays with it, and so do that job's other open
 * dependencies. Edges are followed in both directions, so that no open edge is ever cut.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../core/job/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';

const PAGE = 500;
const POLL_INTERVAL_MS = 200;

export async function runningJobs(store: Store): Promise<readonly Job[]> {
  return listAll(store, { state: 'running' });
}

export interface WaitOptions {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Called with the number of running jobs while it waits. */
  onPoll(running: number): void;
}

/** Returns the jobs that still run at the timeout. Expired leases are returned meanwhile, as by a claim. */
export async function waitForRunning(store: Store, { waitMs, signal, onPoll }: WaitOptions): Promise<readonly Job[]> {
  const endAt = performance.now() + waitMs;
  for (;;) {
    await store.jobs.maintain({ limit: 1_000 });
    const running = await runningJobs(store);
    if (running.length === 0 || performance.now() >= endAt) return running;
    onPoll(running.length);
    signal.throwIfAborted();
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
}

/** Returns the ids of running jobs and of all related jobs. */
export async function withRelatedJobs(store: Store, running: readonly Job[]): Promise<ReadonlySet<string>> {
  const left = new Map(running.map((job) => [job.id, job]));
  for (const job of left.values())
    for (const related of await relatedTo(store, job)) if (!left.has(related.id)) left.set(related.id, related);
  return new Set(left.keys());
}

async function relatedTo(store: Store, job: Job): Promise<readonly Job[]> {
  const children = job.dependents > 0 ? await listAll(store, { parent: job.id }) : [];
  const parents = (job.parents?.open ?? 0) > 0 ? await listAll(store, { child: job.id }) : [];
  const candidates = job.folded > 0 ? await listAll(store, { queue: job.queue, state: 'waiting' }) : [];
  const waiting = children.filter(({ parents: of }) => (of?.open ?? 0) > 0);
  return [...waiting, ...parents, ...candidates.filter(({ foldedInto }) => foldedInto === job.id)];
}

async function listAll(store: Store, query: Partial<JobQuery>): Promise<readonly Job[]> {
  const all: Job[] = [];
  for (let after: string | undefined; ; ) {
    const { jobs, next } = await store.jobs.list({ order: 'newest', limit: PAGE, ...query, ...(after && { after }) });
    all.push(...jobs);
    if (next === null) return all;
    after = next;
  }
}
