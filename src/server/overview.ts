/** The first look at a node: every queue in a line, and the totals of all. Asked every few seconds, so it reads little. */

import { listNodes } from '../node/node-registry.ts';
import type { Overview, QueueRow } from '../wire/overview.ts';
import type { QueueView } from '../wire/views.ts';
import type { ServerContext } from './context.ts';
import { allQueues } from './queue-views.ts';

const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Of so many queues the next job is looked up; with more of them nobody reads that column anyway. */
const MOST_LOOKED_INTO = 200;

export async function lookOver(context: ServerContext): Promise<Overview> {
  const { store, node } = context;
  const [views, nodes] = await Promise.all([allQueues(context), listNodes(store)]);
  const deep = new Set(views.filter(({ counts }) => counts.waiting > 0).slice(0, MOST_LOOKED_INTO));
  const queues = await Promise.all(views.map((view) => rowOf(context, view, { isDeep: deep.has(view) })));
  const sum = (count: (row: QueueRow) => number): number => queues.reduce((all, row) => all + count(row), 0);
  return {
    now: context.now(),
    waiting: sum((row) => row.waiting),
    scheduled: sum((row) => row.scheduled),
    running: sum((row) => row.running),
    failed: sum((row) => row.failed),
    doneToday: node?.throughput.doneToday() ?? 0,
    minutes: node?.throughput.minutes(MINUTES).done ?? [],
    nodes: nodes.length,
    queues,
  };
}

async function rowOf(context: ServerContext, view: QueueView, { isDeep }: { isDeep: boolean }): Promise<QueueRow> {
  const { name, problem, counts, settings } = view;
  const minutes = context.node?.throughput.minutes(MINUTES, name).done ?? [];
  const waiting = counts.waiting - counts.scheduled;
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
    emptyAt: emptyAt({ waiting: waiting + counts.running, minutes, now: context.now() }),
  };
}

async function oldestWait({ store }: ServerContext, queue: string): Promise<number | null> {
  const { jobs } = await store.jobs.list({ queue, order: 'claim', limit: 1 });
  const [next] = jobs;
  return next === undefined ? null : Math.max(next.runAt, next.createdAt);
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
