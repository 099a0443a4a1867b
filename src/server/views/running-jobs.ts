/** The board of running jobs: each with what it uses, what it said last, and when it is expected to end. */
import { expectationOf } from '../../wire/expected-end.ts';
import type { JobView } from '../../wire/job-view.ts';
import type { RunningRow, RunningRows, RunningSummary } from '../../wire/overview.ts';
import type { ServerContext } from './context.ts';
import { findView, viewsOf } from './job-views.ts';
import { glancesOf } from './running-summaries.ts';
import { usualRunOf } from './usual-runs.ts';

/** Of a queue that sets no limit; one that does is told of at half of it. */
const SILENT_MS = 10 * 60_000;

export async function lookAtRunning(
  context: ServerContext,
  page: { limit: number; after?: string },
): Promise<RunningRows> {
  const { store } = context;
  const found = await store.jobs.list({ state: 'running', order: 'newest', ...page });
  const [views, workers] = await Promise.all([viewsOf(context, found.jobs), store.jobs.workers()]);
  const seen = await glancesOf(context, views);
  const hosts = new Map(workers.map(({ id, host }) => [id, host]));
  const rows = await Promise.all(
    views.map((view) => rowOf(context, { view, host: hosts.get(view.lease?.worker ?? ''), seen: seen.get(view.id) })),
  );
  return { now: context.now(), rows: rows.sort(byStart), next: found.next };
}

/** Of a job that does not run there is no row. */
export async function lookAtOne(context: ServerContext, id: string): Promise<RunningRow | null> {
  const view = await findView(context, id);
  if (view.lease === null) return null;
  const worker = (await context.store.jobs.workers()).find(({ id: each }) => each === view.lease?.worker);
  const seen = (await glancesOf(context, [view])).get(id);
  return rowOf(context, { view, host: worker?.host, seen });
}

function byStart(a: RunningRow, b: RunningRow): number {
  return (a.job.lease?.claimedAt ?? 0) - (b.job.lease?.claimedAt ?? 0) || (a.job.id < b.job.id ? -1 : 1);
}

interface Found {
  readonly view: JobView;
  readonly host: string | undefined;
  readonly seen: RunningSummary | undefined;
}

async function rowOf(context: ServerContext, { view, host, seen }: Found): Promise<RunningRow> {
  const { lease } = view;
  const [usual, { maxSilenceMs }] = await Promise.all([
    usualRunOf(context, view.queue),
    context.settings.read(view.queue),
  ]);
  const now = context.now();
  const { endAt, basis, isSlow } = expectationOf(view, usual, now);
  return {
    job: view,
    host: host ?? null,
    pid: lease?.pid ?? null,
    lastLine: seen?.lastLine ?? null,
    lastOutputAt: seen?.lastOutputAt ?? null,
    heartbeatAt: lease === null ? null : lease.until - lease.ms,
    samples: seen?.samples ?? [],
    expectedEndAt: endAt,
    expectedBy: basis,
    usualMs: usual?.p50Ms ?? null,
    isSlow,
    isSilent: now - heardAt(view, seen?.lastOutputAt ?? null) > (maxSilenceMs === null ? SILENT_MS : maxSilenceMs / 2),
  };
}

/** The last sign of work itself: output, progress, or that it began. Heartbeats are the worker's. */
function heardAt({ lease, progress }: JobView, outputAt: number | null): number {
  return Math.max(lease?.startedAt ?? lease?.claimedAt ?? 0, progress?.at ?? 0, outputAt ?? 0);
}
