/** The overview: one row per queue and totals. The web UI requests it every few seconds, so it makes few store calls. */
import { readySince } from '../../core/job/job.ts';
import { listNodes } from '../../node/cluster/list-nodes.ts';
import type { Overview, QueueRow } from '../../wire/overview.ts';
import type { UsualRun } from '../../wire/usual-run.ts';
import type { QueueView } from '../../wire/views.ts';
import type { ServerContext } from './context.ts';
import { storeNow } from './node-of.ts';
import { allQueues } from './queue-views.ts';
import { recentEnds } from './recent-ends.ts';
import { usualRunOf } from './usual-runs.ts';

const MINUTE_MS = 60_000;
/** The next job is read for at most this many queues; the column is of no use with more. */
const MAX_DETAILED = 200;

export async function readOverview(context: ServerContext): Promise<Overview> {
  const [views, nodes, ends] = await Promise.all([
    allQueues(context),
    listNodes(context.store, storeNow(context)),
    recentEnds(context),
  ]);
  const detailed = new Set(views.filter(({ counts }) => counts.waiting > 0).slice(0, MAX_DETAILED));
  const queues = await Promise.all(
    views.map((view) => rowOf(context, view, { isDetailed: detailed.has(view), minutes: ends.minutes(view.name) })),
  );
  const sum = (count: (row: QueueRow) => number): number => queues.reduce((all, row) => all + count(row), 0);
  return {
    now: context.now(),
    waiting: sum((row) => row.waiting),
    scheduled: sum((row) => row.scheduled),
    running: sum((row) => row.running),
    failed: sum((row) => row.failed),
    doneToday: ends.doneToday,
    minutes: ends.minutes(),
    nodes: nodes.filter(({ goneAt }) => goneAt === null).length,
    queues,
  };
}

interface RowOptions {
  readonly isDetailed: boolean;
  readonly minutes: readonly number[];
}

async function rowOf(context: ServerContext, view: QueueView, { isDetailed, minutes }: RowOptions): Promise<QueueRow> {
  const { name, problem, counts, settings } = view;
  const waiting = counts.waiting - counts.scheduled;
  const usual = isDetailed || counts.running > 0 ? await usualRunOf(context, name) : null;
  const left = { waiting: waiting + counts.running, minutes, now: context.now() };
  return {
    name,
    state: settings.state,
    note: settings.note,
    problem,
    hasScript: settings.script !== null || (context.node?.queues().has(name) ?? false),
    waiting,
    scheduled: counts.scheduled,
    running: counts.running,
    failed: counts.failed,
    done: counts.done,
    oldestWaitAt: isDetailed ? await oldestWait(context, name) : null,
    minutes,
    emptyAt: emptyAt(left) ?? emptyByHistory(left, usual, Math.max(counts.running, settings.concurrency)),
    usualMs: usual?.p50Ms ?? null,
  };
}

async function oldestWait({ store }: ServerContext, queue: string): Promise<number | null> {
  const { jobs } = await store.jobs.list({ queue, order: 'claim', limit: 1 });
  const [next] = jobs;
  return next === undefined ? null : readySince(next);
}

/** Estimates from the usual run time, for queues in which no job ended in the last hour. */
function emptyByHistory(
  { waiting, now }: { readonly waiting: number; readonly now: number },
  usual: UsualRun | null,
  atOnce: number,
): number | null {
  return waiting === 0 || usual === null ? null : Math.round(now + (waiting / atOnce) * usual.meanMs);
}

/** Estimates from the rate of the last hour without the current minute. Returns null if the rate or the backlog is 0. */
function emptyAt({
  waiting,
  minutes,
  now,
}: {
  waiting: number;
  minutes: readonly number[];
  now: number;
}): number | null {
  const complete = minutes.slice(0, -1);
  const done = complete.reduce((sum, each) => sum + each, 0);
  if (waiting === 0 || done === 0) return null;
  return Math.round(now + (waiting / (done / complete.length)) * MINUTE_MS);
}
