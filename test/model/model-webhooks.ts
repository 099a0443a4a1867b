/**
 * What hooks are to tell, on the model: a job of the queue `hooks` behind the last one about the same job to the same address.
 *
 * Must never import from core/operations; of core/webhooks/webhook.ts it takes how one call is written down as a job.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Job } from '../../src/core/job/job.ts';
import { born } from '../../src/core/lifecycle/lifecycle.ts';
import { type HookEvent, hookJob } from '../../src/core/webhooks/webhook.ts';
import type { Model } from './model.ts';
import { childrenOf, isOver, waitFor } from './model-family.ts';

const hooksOf = (model: Model, { queue, policy }: Job) =>
  queue === 'hooks' ? [] : [...(policy.hooks ?? []), ...model.settings(queue).hooks];

export function tellHooks(model: Model, job: Job, { event }: HistoryRow, now: number): void {
  const isEnd = isOver(job) && event !== 'changed';
  const said = event === 'claimed' ? 'start' : isEnd ? (job.state as HookEvent) : null;
  if (said === null) return;
  for (const hook of hooksOf(model, job).filter(({ on }) => on.includes(said))) {
    const same = `hook~${said}~${now}~${job.id}`;
    const ids = [same, ...Array.from({ length: 100 }, (_, at) => `${same}~${at + 2}`)];
    const id = ids.find((each) => model.get(each) === undefined) ?? '';
    addCall(model, hookJob(job, hook, { event: said, at: now }, id), now);
  }
}

export function tellProgress(model: Model, before: Job, after: Job, now: number): void {
  for (const [place, hook] of hooksOf(model, after).entries()) {
    const steps = (job: Job): number => Math.floor((job.progress?.percent ?? 0) / (hook.every ?? 25));
    const percent = steps(after) * (hook.every ?? 25);
    const id = `hook~progress${percent}~${after.attempt}.${place}~${after.id}`;
    if (steps(after) <= steps(before) || !hook.on.includes('progress') || model.get(id) !== undefined) continue;
    addCall(model, hookJob(after, hook, { event: 'progress', at: now, percent }, id), now);
  }
}

function addCall(model: Model, input: ReturnType<typeof hookJob>, now: number): void {
  const { job, row } = born(input, { now, seq: model.nextSeq(), settings: model.settings('hooks') });
  const before = model.rivalOf(job, 'hooks', now);
  model.become({ job, row }, now);
  model.passKey(job);
  if (before === undefined) return;
  waitFor(model, job, [before], now);
  // It stands in no line that equals are looked for in.
  model.keep({ ...(model.get(job.id) as Job), coalesceKey: null });
}

/** A call that is cancelled or deleted leaves a gap in its line: the call behind it waits for the call in front of it. */
export function closeLine(model: Model, call: Job, now: number): void {
  const line = model.jobs.filter(
    (job) => job.queue === 'hooks' && job.unique?.key === call.unique?.key && !isOver(job),
  );
  const isAhead = (job: Job): boolean =>
    model.edges.some(({ from, to, isOpen }) => from === job.seq && to === call.seq && isOpen);
  const front = call.queue === 'hooks' && call.unique !== null ? line.find(isAhead) : undefined;
  if (front === undefined) return;
  const behind = childrenOf(model, call.seq).filter((child) => line.some(({ id }) => id === child.id));
  for (const child of behind) {
    model.edges = model.edges.map((edge) =>
      edge.from === call.seq && edge.to === child.seq ? { ...edge, isOpen: false } : edge,
    );
    waitFor(model, child, [front], now);
  }
  model.recount();
  model.leaveKeyTo(front, call);
}
