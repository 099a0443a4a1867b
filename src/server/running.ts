/** The board of running jobs: each with what it uses, what it said last, and when it is expected to end. */
import type { Glance } from '../node/attempt-reader.ts';
import { expectationOf } from '../wire/expected-end.ts';
import type { JobView } from '../wire/job-view.ts';
import type { RunningRow, RunningRows } from '../wire/overview.ts';
import type { ServerContext } from './context.ts';
import { findView, viewsOf } from './job-views.ts';
import { usualRunOf } from './usual-runs.ts';

/** Points of a sparkline. */
const POINTS = 60;
const LINE_LENGTH = 500;
/** Of a queue that sets no limit; one that does is told of at half of it. */
const SILENT_MS = 10 * 60_000;

export async function lookAtRunning(
  context: ServerContext,
  page: { limit: number; after?: string },
): Promise<RunningRows> {
  const { store } = context;
  const found = await store.jobs.list({ state: 'running', order: 'newest', ...page });
  const [views, workers] = await Promise.all([viewsOf(context, found.jobs), store.jobs.workers()]);
  const hosts = new Map(workers.map(({ id, host }) => [id, host]));
  const rows = await Promise.all(
    views.map((view) => rowOf(context, { view, host: hosts.get(view.lease?.worker ?? '') })),
  );
  return { now: context.now(), rows: rows.sort(byStart), next: found.next };
}

/** Of a job that does not run there is no row. */
export async function lookAtOne(context: ServerContext, id: string): Promise<RunningRow | null> {
  const view = await findView(context, id);
  if (view.lease === null) return null;
  const worker = (await context.store.jobs.workers()).find(({ id: each }) => each === view.lease?.worker);
  return rowOf(context, { view, host: worker?.host });
}

function byStart(a: RunningRow, b: RunningRow): number {
  return (a.job.lease?.claimedAt ?? 0) - (b.job.lease?.claimedAt ?? 0) || (a.job.id < b.job.id ? -1 : 1);
}

interface Found {
  readonly view: JobView;
  readonly host: string | undefined;
}

async function rowOf(context: ServerContext, { view, host }: Found): Promise<RunningRow> {
  const { lease } = view;
  const [seen, usual, { maxSilenceMs }] = await Promise.all([
    context.node?.attempts.glance(view.id, view.attempt),
    usualRunOf(context, view.queue),
    context.settings.read(view.queue),
  ]);
  const now = context.now();
  const { endAt, basis, isSlow } = expectationOf(view, usual, now);
  return {
    job: view,
    host: host ?? null,
    pid: lease?.pid ?? null,
    lastLine: seen?.last?.text.slice(-LINE_LENGTH) ?? null,
    lastOutputAt: seen?.last?.at ?? null,
    heartbeatAt: lease === null ? null : lease.until - lease.ms,
    samples: seen === undefined ? [] : samplesOf(seen.usage),
    expectedEndAt: endAt,
    expectedBy: basis,
    usualMs: usual?.p50Ms ?? null,
    isSlow,
    isSilent: now - heardAt(view, seen?.last?.at ?? null) > (maxSilenceMs === null ? SILENT_MS : maxSilenceMs / 2),
  };
}

/** The last sign of work itself: output, progress, or that it began. Heartbeats are the worker's. */
function heardAt({ lease, progress }: JobView, outputAt: number | null): number {
  return Math.max(lease?.startedAt ?? lease?.claimedAt ?? 0, progress?.at ?? 0, outputAt ?? 0);
}

/** Processor seconds between two samples, as a share of one core. */
function samplesOf({ samples }: Glance['usage']): RunningRow['samples'] {
  const last = samples.slice(-POINTS - 1);
  return last.slice(1).map(({ at, cpuSeconds, rssBytes }, place) => {
    const before = last[place];
    const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
    const cpuPercent = seconds <= 0 ? 0 : ((cpuSeconds - (before?.cpuSeconds ?? 0)) / seconds) * 100;
    return { at, cpuPercent: Math.max(0, cpuPercent), rssBytes };
  });
}
