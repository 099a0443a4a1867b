/** The board of running jobs: each with what it uses, what it said last, and when it is expected to end. */
import type { Glance } from '../node/attempt-reader.ts';
import { expectedEnd } from '../wire/expected-end.ts';
import type { JobView } from '../wire/job-view.ts';
import type { RunningRow, RunningRows } from '../wire/overview.ts';
import type { ServerContext } from './context.ts';
import { viewsOf } from './job-views.ts';

/** Points of a sparkline. */
const POINTS = 60;
const LINE_LENGTH = 500;

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

function byStart(a: RunningRow, b: RunningRow): number {
  return (a.job.lease?.claimedAt ?? 0) - (b.job.lease?.claimedAt ?? 0) || (a.job.id < b.job.id ? -1 : 1);
}

interface Found {
  readonly view: JobView;
  readonly host: string | undefined;
}

async function rowOf(context: ServerContext, { view, host }: Found): Promise<RunningRow> {
  const { lease } = view;
  const seen = await context.node?.attempts.glance(view.id, view.attempt);
  return {
    job: view,
    host: host ?? null,
    pid: lease?.pid ?? null,
    lastLine: seen?.last?.text.slice(-LINE_LENGTH) ?? null,
    lastOutputAt: seen?.last?.at ?? null,
    heartbeatAt: lease === null ? null : lease.until - lease.ms,
    samples: seen === undefined ? [] : samplesOf(seen.usage),
    expectedEndAt: expectedEnd(view),
  };
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
