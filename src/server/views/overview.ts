/** The overview: one row per queue and totals. The web UI requests it every few seconds, so it makes few store calls. */
import { readySince } from '../../core/job/job.ts';
import { isWithoutWorker, workedQueues } from '../../core/limits/without-worker.ts';
import { listNodes } from '../../node/cluster/list-nodes.ts';
import type { Overview, QueueRow } from '../../wire/overview.ts';
import type { QueueView } from '../../wire/views.ts';
import type { ServerContext } from './context.ts';
import { emptyEstimate } from './empty-estimate.ts';
import { storeNow } from './node-of.ts';
import { allQueues } from './queue-views.ts';
import { recentEnds } from './recent-ends.ts';
import { usualRunOf } from './usual-runs.ts';

/** The next job is read for at most this many queues; the column is of no use with more. */
const MAX_DETAILED = 200;

export async function readOverview(context: ServerContext): Promise<Overview> {
  const [views, nodes, ends] = await Promise.all([
    allQueues(context),
    listNodes(context.store, storeNow(context)),
    recentEnds(context),
  ]);
  const detailed = new Set(views.filter(({ counts }) => counts.waiting > 0).slice(0, MAX_DETAILED));
  const worked = await queuesWithWorkers(context, views);
  const queues = await Promise.all(
    views.map((view) =>
      rowOf(context, view, { isDetailed: detailed.has(view), minutes: ends.minutes(view.name), worked }),
    ),
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

/** Reads the workers only if jobs wait in a queue that runs none. */
async function queuesWithWorkers({ store }: ServerContext, views: readonly QueueView[]): Promise<ReadonlySet<string>> {
  const none = workedQueues([]);
  const isInDoubt = views.some(({ counts, settings }) => isWithoutWorker(counts, settings, none));
  return isInDoubt ? workedQueues(await store.jobs.workers()) : none;
}

interface RowOptions {
  readonly worked: ReadonlySet<string>;
  readonly isDetailed: boolean;
  readonly minutes: readonly number[];
}

async function rowOf(
  context: ServerContext,
  view: QueueView,
  { isDetailed, minutes, worked }: RowOptions,
): Promise<QueueRow> {
  const { name, problem, counts, settings } = view;
  const waiting = counts.waiting - counts.scheduled;
  const usual = isDetailed || counts.running > 0 ? await usualRunOf(context, name) : null;
  const [jobs, slots] = [waiting + counts.running, Math.max(counts.running, settings.concurrency)];
  const isWithout = isWithoutWorker(counts, settings, worked);
  const empty = isWithout ? null : emptyEstimate({ jobs, minutes, usual, slots, now: context.now() });
  return {
    name,
    state: settings.state,
    note: settings.note,
    problem,
    isWithoutWorker: isWithout,
    hasScript: settings.script !== null || (context.node?.queues().has(name) ?? false),
    waiting,
    scheduled: counts.scheduled,
    running: counts.running,
    failed: counts.failed,
    done: counts.done,
    oldestWaitAt: isDetailed ? await oldestWait(context, name) : null,
    minutes,
    emptyAt: empty?.at ?? null,
    emptyBasis: empty?.basis ?? null,
    usualMs: usual?.p50Ms ?? null,
  };
}

async function oldestWait({ store }: ServerContext, queue: string): Promise<number | null> {
  const { jobs } = await store.jobs.list({ queue, order: 'claim', limit: 1 });
  const [next] = jobs;
  return next === undefined ? null : readySince(next);
}
