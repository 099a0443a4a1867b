/** Rows of running jobs: resource usage, last line of output and expected end. */
import { expectationOf } from '../../wire/expected-end.ts';
import type { JobView } from '../../wire/job-view.ts';
import type { RunningRow, RunningRows, RunningSummary } from '../../wire/overview.ts';
import type { ServerContext } from './context.ts';
import { findView, viewsOf } from './job-views.ts';
import { summariesOf } from './running-summaries.ts';
import { usualRunOf } from './usual-runs.ts';

/** For queues without a silence limit; with one, half of the limit counts as silent. */
const SILENT_MS = 10 * 60_000;

export async function listRunning(
  context: ServerContext,
  page: { limit: number; after?: string },
): Promise<RunningRows> {
  const { store } = context;
  const found = await store.jobs.list({ state: 'running', order: 'newest', ...page });
  const [views, workers] = await Promise.all([viewsOf(context, found.jobs), store.jobs.workers()]);
  const summaries = await summariesOf(context, views);
  const hosts = new Map(workers.map(({ id, host }) => [id, host]));
  const rows = await Promise.all(
    views.map((view) =>
      rowOf(context, { view, host: hosts.get(view.lease?.worker ?? ''), summary: summaries.get(view.id) }),
    ),
  );
  return { now: context.now(), rows: rows.sort(byStart), next: found.next };
}

/** Returns the row of one job; null if it does not run. */
export async function findRunning(context: ServerContext, id: string): Promise<RunningRow | null> {
  const view = await findView(context, id);
  if (view.lease === null) return null;
  const worker = (await context.store.jobs.workers()).find(({ id: each }) => each === view.lease?.worker);
  const summary = (await summariesOf(context, [view])).get(id);
  return rowOf(context, { view, host: worker?.host, summary });
}

function byStart(a: RunningRow, b: RunningRow): number {
  return (a.job.lease?.claimedAt ?? 0) - (b.job.lease?.claimedAt ?? 0) || (a.job.id < b.job.id ? -1 : 1);
}

interface RowSource {
  readonly view: JobView;
  readonly host: string | undefined;
  readonly summary: RunningSummary | undefined;
}

async function rowOf(context: ServerContext, { view, host, summary }: RowSource): Promise<RunningRow> {
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
    lastLine: summary?.lastLine ?? null,
    lastOutputAt: summary?.lastOutputAt ?? null,
    heartbeatAt: lease === null ? null : lease.until - lease.ms,
    samples: summary?.samples ?? [],
    expectedEndAt: endAt,
    expectedBy: basis,
    usualMs: usual?.p50Ms ?? null,
    isSlow,
    isSilent:
      now - lastActivityAt(view, summary?.lastOutputAt ?? null) >
      (maxSilenceMs === null ? SILENT_MS : maxSilenceMs / 2),
  };
}

/** Returns the time of the last output, progress or start. Heartbeats do not count: the worker sends them. */
function lastActivityAt({ lease, progress }: JobView, outputAt: number | null): number {
  return Math.max(lease?.startedAt ?? lease?.claimedAt ?? 0, progress?.at ?? 0, outputAt ?? 0);
}
