/**
 * Jobs that run, and whoever hangs on them: they finish where they are.
 *
 * A job that waits for one that runs, or is folded into it, stays with it, and so does whatever else that job waits for:
 * an edge is followed up and down, so that none that is open is ever cut.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../core/job/job.ts';
import type { JobQuery } from '../../core/ports/job-store.ts';
import type { Store } from '../../core/ports/store.ts';

const PAGE = 500;
const LOOK_EVERY_MS = 200;

export async function runningJobs(store: Store): Promise<readonly Job[]> {
  return listAll(store, { state: 'running' });
}

export interface Waiting {
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Told how many still run, as long as they are waited for. */
  onLook(running: number): void;
}

/** Those that still run when the time is over; lost leases are brought back meanwhile, as a claim would. */
export async function waitForRunning(store: Store, { waitMs, signal, onLook }: Waiting): Promise<readonly Job[]> {
  const endAt = performance.now() + waitMs;
  for (;;) {
    await store.jobs.maintain({ limit: 1_000 });
    const running = await runningJobs(store);
    if (running.length === 0 || performance.now() >= endAt) return running;
    onLook(running.length);
    signal.throwIfAborted();
    await sleep(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** Ids of the running ones and of all that hang on them. */
export async function leftWith(store: Store, running: readonly Job[]): Promise<ReadonlySet<string>> {
  const left = new Map(running.map((job) => [job.id, job]));
  for (const job of left.values())
    for (const kin of await kinOf(store, job)) if (!left.has(kin.id)) left.set(kin.id, kin);
  return new Set(left.keys());
}

async function kinOf(store: Store, job: Job): Promise<readonly Job[]> {
  const children = job.dependents > 0 ? await listAll(store, { parent: job.id }) : [];
  const parents = (job.parents?.open ?? 0) > 0 ? await listAll(store, { child: job.id }) : [];
  const folded = job.folded > 0 ? await listAll(store, { queue: job.queue, state: 'waiting' }) : [];
  const waiting = children.filter(({ parents: of }) => (of?.open ?? 0) > 0);
  return [...waiting, ...parents, ...folded.filter(({ foldedInto }) => foldedInto === job.id)];
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
