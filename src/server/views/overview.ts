/** The first look at a node: every queue in a line, and the totals of all. Asked every few seconds, so it reads little. */

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
/** Of so many queues the next job is looked up; with more of them nobody reads that column anyway. */
const MOST_LOOKED_INTO = 200;

export async function lookOver(context: ServerContext): Promise<Overview> {
  const [views, nodes, ends] = await Promise.all([
    allQueues(context),
    listNodes(context.store, storeNow(context)),
    recentEnds(context),
  ]);
  const deep = new Set(views.filter(({ counts }) => counts.waiting > 0).slice(0, MOST_LOOKED_INTO));
  const queues = await Promise.all(
    views.map((view) => rowOf(context, view, { isDeep: deep.has(view), minutes: ends.minutes(view.name) })),
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

interface Look {
  readonly isDeep: boolean;
  readonly minutes: readonly number[];
}

async function rowOf(context: ServerContext, view: QueueView, { isDeep, minutes }: Look): Promise<QueueRow> {
  const { name, problem, counts, settings } = view;
  const waiting = counts.waiting - counts.scheduled;
  const usual = isDeep || counts.running > 0 ? await usualRunOf(context, name) : null;
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
    oldestWaitAt: isDeep ? await oldestWait(context, name) : null,
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

/** Where nothing ended in the last hour, as with jobs that run for hours: by how long they usually run. */
function emptyByHistory(
  { waiting, now }: { readonly waiting: number; readonly now: number },
  usual: UsualRun | null,
  atOnce: number,
): number | null {
  return waiting === 0 || usual === null ? null : Math.round(now + (waiting / atOnce) * usual.meanMs);
}

/** By the pace of the last hour, without the minute that is going on. Null when nothing moves or nothing is left. */
function emptyAt({
  waiting,
  minutes,
  now,
}: {
  waiting: number;
  minutes: readonly number[];
  now: number;
}): number | null {
  const past = minutes.slice(0, -1);
  const done = past.reduce((sum, each) => sum + each, 0);
  if (waiting === 0 || done === 0) return null;
  return Math.round(now + (waiting / (done / past.length)) * MINUTE_MS);
}
