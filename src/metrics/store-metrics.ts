/**
 * Metrics that are read from the store on request: jobs by state and wait reason, workers, throttles, storage, schedules, outboxes.
 *
 * Reads only. A store that does not answer in time is a value, `store_up 0`, never an error.
 */
import { listThrottles } from '../core/limits/throttle-views.ts';
import type { JobStore, QueueCounts, WorkerRecord } from '../core/ports/job-store.ts';
import type { Store } from '../core/ports/store.ts';
import { nextRunAt } from '../core/schedules/schedule-plan.ts';
import { listSchedules } from '../schedules/schedule-records.ts';
import { withDeadline } from '../worker/outcome/deadline.ts';
import { family, single } from './catalogue.ts';
import type { Family, Sample } from './metrics-text.ts';
import { outboxFamilies } from './outbox-metrics.ts';
import { waitingFamilies } from './waiting-jobs.ts';

const DEADLINE_MS = 5_000;
const STATES = ['draft', 'waiting', 'running', 'done', 'failed', 'cancelled'] as const;
const STORED = ['done', 'failed', 'cancelled', 'results', 'logs'] as const;
/** Names of throttles are bounded by operators; those beyond this many are left out. */
const MAX_THROTTLES = 200;
/** A process looks at the schedules every few seconds. */
const LATE_MS = 10_000;

export type StoreAnswer =
  | { readonly isUp: true; readonly counts: readonly QueueCounts[]; readonly seconds: number }
  | { readonly isUp: false; readonly problem: string };

/** Asks the store for its counts, and measures how long that takes. */
export async function askStore({ jobs }: { readonly jobs: Pick<JobStore, 'count'> }): Promise<StoreAnswer> {
  const before = performance.now();
  try {
    const counts = await withDeadline(jobs.count(), DEADLINE_MS);
    return { isUp: true, counts, seconds: (performance.now() - before) / 1_000 };
  } catch (error) {
    return { isUp: false, problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the metrics of the store. If it does not answer, only that is known. */
export async function storeFamilies(store: Store): Promise<readonly Family[]> {
  const answer = await askStore(store);
  const families = answer.isUp
    ? await withDeadline(readFamilies(store, answer.counts), DEADLINE_MS).catch(() => null)
    : null;
  return [
    single('store_up', families === null ? 0 : 1),
    single('store_latency_seconds', answer.isUp ? answer.seconds : null),
    ...(families ?? []),
  ];
}

async function readFamilies(store: Store, counts: readonly QueueCounts[]): Promise<readonly Family[]> {
  const workers = await store.jobs.workers();
  const [waiting, throttles, storage, schedules, outboxes] = await Promise.all([
    waitingFamilies(store, counts, workers),
    throttleFamilies(store),
    storageFamily(store),
    scheduleFamilies(store),
    outboxFamilies(store.records, Date.now()),
  ]);
  return [jobFamily(counts), ...waiting, workerFamily(workers), ...throttles, storage, ...schedules, ...outboxes];
}

function jobFamily(counts: readonly QueueCounts[]): Family {
  const samples = counts.flatMap((each) =>
    STATES.map((state) => ({ labels: { queue: each.queue, state }, value: each[state] })),
  );
  return family('jobs', samples);
}

function workerFamily(workers: readonly WorkerRecord[]): Family {
  const lost = workers.filter(({ isLost }) => isLost).length;
  return family('workers', [
    { labels: { state: 'live' }, value: workers.length - lost },
    { labels: { state: 'lost' }, value: lost },
  ]);
}

async function throttleFamilies(store: Store): Promise<readonly Family[]> {
  const views = await listThrottles(store);
  // The keys of a rate are entries of their own: they count with the waiting jobs of their throttle.
  const whole = views.filter(({ name, key }) => name !== null && key === null);
  const waitingFor = (name: string) => views.reduce((sum, view) => sum + (view.name === name ? view.waiting : 0), 0);
  const now = Date.now();
  const nextStartMs = (name: string) =>
    Math.max(0, ...views.flatMap((view) => (view.name === name ? [(view.nextStartAt ?? 0) - now] : [])));
  const named = whole.map((view) => {
    const throttle = view.name ?? '';
    return { ...view, throttle, waiting: waitingFor(throttle), nextStartMs: nextStartMs(throttle) };
  });
  const shown = named.slice(0, MAX_THROTTLES);
  const samples = (valueOf: (view: (typeof shown)[number]) => number | null): readonly Sample[] =>
    shown.flatMap((view) => {
      const value = valueOf(view);
      return value === null ? [] : [{ labels: { throttle: view.throttle }, value }];
    });
  return [
    family(
      'throttle_slots',
      samples(({ max }) => max),
    ),
    family(
      'throttle_slots_used',
      samples(({ held }) => held),
    ),
    family(
      'throttle_waiting_jobs',
      samples(({ waiting }) => waiting),
    ),
    family(
      'throttle_next_start_seconds',
      samples(({ nextStartMs }) => nextStartMs / 1_000),
    ),
  ];
}

async function storageFamily({ jobs }: Store): Promise<Family> {
  const sizes = await jobs.insight({ kind: 'storage' });
  const samples = sizes.flatMap(({ queue, ...of }) =>
    STORED.map((state) => ({ labels: { queue, state }, value: of[state].bytes })),
  );
  return family('storage_bytes', samples);
}

async function scheduleFamilies({ records }: Store): Promise<readonly Family[]> {
  const schedules = (await listSchedules(records)).map(({ schedule }) => schedule);
  const now = Date.now();
  const delays = schedules.map((schedule) => Math.max(0, now - (nextRunAt(schedule) ?? now)));
  const paused = schedules.filter(({ pausedAt }) => pausedAt !== null).length;
  return [
    family('schedules', [
      { labels: { state: 'active' }, value: schedules.length - paused },
      { labels: { state: 'paused' }, value: paused },
    ]),
    single('late_schedules', delays.filter((ms) => ms > LATE_MS).length),
    single('schedule_delay_seconds', Math.max(0, ...delays) / 1_000),
  ];
}
