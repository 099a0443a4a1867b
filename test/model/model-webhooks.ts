/**
 * Webhooks in the model: a job of the queue `hooks` behind the last one about the same job to the same address.
 *
 * Must never import from core/operations; from core/webhooks/webhook.ts it takes how a call is written as a job.
 */

import type { HistoryRow } from '../../src/core/job/history.ts';
import type { Job } from '../../src/core/job/job.ts';
import { created } from '../../src/core/lifecycle/lifecycle.ts';
import { type WebhookEventName, webhookJob } from '../../src/core/webhooks/webhook.ts';
import type { Model } from './model.ts';
import { childrenOf, hasEnded, waitFor } from './model-family.ts';

const hooksOf = (model: Model, { queue, policy }: Job) =>
  queue === 'hooks' ? [] : [...(policy.hooks ?? []), ...model.settings(queue).hooks];

export function addWebhookJobs(model: Model, job: Job, { event }: HistoryRow, now: number): void {
  const isEnd = hasEnded(job) && event !== 'changed';
  const isWait = event === 'suspended' && typeof job.suspension?.event === 'string' && job.runAt > now;
  const name = event === 'claimed' ? 'start' : isWait ? 'waiting' : isEnd ? (job.state as WebhookEventName) : null;
  if (name === null) return;
  for (const hook of hooksOf(model, job).filter(({ on }) => on.includes(name))) {
    const same = `hook~${name}~${now}~${job.id}`;
    const ids = [same, ...Array.from({ length: 100 }, (_, at) => `${same}~${at + 2}`)];
    const id = ids.find((each) => model.get(each) === undefined) ?? '';
    addCall(model, webhookJob(job, hook, { event: name, at: now }, id), now);
  }
}

export function addProgressJobs(model: Model, before: Job, after: Job, now: number): void {
  for (const [index, hook] of hooksOf(model, after).entries()) {
    const steps = (job: Job): number => Math.floor((job.progress?.percent ?? 0) / (hook.every ?? 25));
    const percent = steps(after) * (hook.every ?? 25);
    const id = `hook~progress${percent}~${after.attempt}.${index}~${after.id}`;
    if (steps(after) <= steps(before) || !hook.on.includes('progress') || model.get(id) !== undefined) continue;
    addCall(model, webhookJob(after, hook, { event: 'progress', at: now, percent }, id), now);
  }
}

function addCall(model: Model, input: ReturnType<typeof webhookJob>, now: number): void {
  const { job, row } = created(input, { now, seq: model.nextSeq(), settings: model.settings('hooks') });
  const before = model.otherHolder(job, 'hooks', now);
  model.become({ job, row }, now);
  model.transferKey(job);
  if (before === undefined) return;
  waitFor(model, job, [before], now);
  // It is not among the jobs in which equal ones are searched.
  model.keep({ ...(model.get(job.id) as Job), coalesceKey: null });
}

/** Closes the gap of a cancelled or deleted call: the call behind it waits for the call in front of it. */
export function closeSequence(model: Model, call: Job, now: number): void {
  const sequence = model.jobs.filter(
    (job) => job.queue === 'hooks' && job.unique?.key === call.unique?.key && !hasEnded(job),
  );
  const isAhead = (job: Job): boolean =>
    model.edges.some(({ from, to, isOpen }) => from === job.seq && to === call.seq && isOpen);
  const preceding = call.queue === 'hooks' && call.unique !== null ? sequence.find(isAhead) : undefined;
  if (preceding === undefined) return;
  const following = childrenOf(model, call.seq).filter((child) => sequence.some(({ id }) => id === child.id));
  for (const child of following) {
    model.edges = model.edges.map((edge) =>
      edge.from === call.seq && edge.to === child.seq ? { ...edge, isOpen: false } : edge,
    );
    waitFor(model, child, [preceding], now);
  }
  model.recount();
  model.inheritKey(preceding, call);
}
