/** The board of running jobs: each with what it uses, what it said last, and when it is expected to end. */
import type { AttemptView } from '../node/attempt-view.ts';
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
  const [attempt, last] = await Promise.all([latestAttempt(context, view.id), lastLine(context, view.id)]);
  return {
    job: view,
    host: host ?? null,
    pid: lease?.pid ?? null,
    lastLine: last?.text ?? null,
    lastOutputAt: last?.at ?? null,
    heartbeatAt: lease === null ? null : lease.until - lease.ms,
    samples: attempt?.usage == null ? [] : samplesOf(attempt.usage),
    expectedEndAt: expectedEnd(view),
  };
}

async function latestAttempt({ node }: ServerContext, id: string): Promise<AttemptView | undefined> {
  const found = await node?.attempts.list(id);
  return found?.ok ? found.attempts.at(-1) : undefined;
}

async function lastLine({ node }: ServerContext, id: string): Promise<{ text: string; at: number | null } | null> {
  const found = await node?.attempts.log(id, 'latest');
  if (!found?.ok) return null;
  const line = (await found.log.tail(1)).lines.at(-1);
  return line === undefined ? null : { text: line.text.slice(-LINE_LENGTH), at: line.at };
}

/** Processor seconds between two samples, as a share of one core. */
function samplesOf({ samples }: NonNullable<AttemptView['usage']>): RunningRow['samples'] {
  const last = samples.slice(-POINTS - 1);
  return last.slice(1).map(({ at, cpuSeconds, rssBytes }, place) => {
    const before = last[place];
    const seconds = before === undefined ? 0 : (at - before.at) / 1_000;
    const cpuPercent = seconds <= 0 ? 0 : ((cpuSeconds - (before?.cpuSeconds ?? 0)) / seconds) * 100;
    return { at, cpuPercent: Math.max(0, cpuPercent), rssBytes };
  });
}
