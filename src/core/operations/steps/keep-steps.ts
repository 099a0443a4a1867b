/** Steps of running attempts, each written only under the token of the lease, and events for jobs. */
import type { Job } from '../../job/job.ts';
import type { Step } from '../../job/step.ts';
import { numberedName } from '../../job/step.ts';
import type { Moment } from '../../lifecycle/clock.ts';
import { holds } from '../../lifecycle/lifecycle.ts';
import {
  arrivedStep,
  keptStep,
  notified,
  refuseNotify,
  refuseStep,
  stepProblem,
  stepSums,
} from '../../lifecycle/steps.ts';
import type { Notify, NotifyResult, Settlement, StepResult, StepWrite } from '../../ports/job-store.ts';
import type { Refused } from '../../ports/refusal.ts';
import { refuse } from '../../ports/refusal.ts';
import type { Table } from '../../ports/table.ts';
import { apply, eventOf } from '../apply.ts';

export function stepsOf(table: Table, id: string): readonly Step[] {
  const job = table.get(id);
  return job === undefined || job.steps === null ? [] : table.steps(job);
}

export function keepSteps(table: Table, writes: readonly StepWrite[], { now }: Moment): readonly StepResult[] {
  return writes.map((write) => keepOne(table, write, now));
}

function keepOne(table: Table, write: StepWrite, now: number): StepResult {
  const job = table.get(write.id);
  if (job === undefined) return refuse('not-found', `job ${write.id}`);
  if (!holds(job, write.token)) return refuse('lease-lost', `job ${write.id}`);
  const before = table.step(job, write.kind, write.name);
  const step = keptStep(before, write, { now, number: nextNumber(job) });
  if (step === before) return { ok: true, step, now };
  const next = withStep(job, before, step);
  if ('ok' in next) return next;
  table.putStep(job, step);
  table.replace(job, next, null);
  table.emit(eventOf(next, 'progress'));
  return { ok: true, step, now };
}

const nextNumber = ({ steps }: Job): number => (steps?.count ?? 0) + 1;

/** Returns the job with the sums of its steps, or a refusal. */
function withStep(job: Job, before: Step | undefined, step: Step): Job | Refused {
  const steps = stepSums(job.steps, before, step);
  const problem = stepProblem(step, steps);
  return problem === null ? { ...job, steps } : refuseStep(job.id, problem, step.name);
}

export function notify(table: Table, events: readonly Notify[], { now }: Moment): readonly NotifyResult[] {
  return events.map((event) => notifyOne(table, event, now));
}

function notifyOne(table: Table, { id, name, data }: Notify, now: number): NotifyResult {
  const job = table.get(id);
  if (job === undefined) return refuse('not-found', `job ${id}`);
  const refused = refuseNotify(job);
  if (refused !== null) return refused;
  const { stepName, before } = openEvent(table, job, name);
  if (before?.status === 'arrived') return { ok: true, outcome: 'ignored', state: job.state };
  const step = arrivedStep(before, stepName, data, { now, number: nextNumber(job) });
  const next = withStep(job, before, step);
  if ('ok' in next) return next;
  table.putStep(job, step);
  const change = notified(next, stepName, now);
  apply(table, job, change, now);
  return { ok: true, outcome: change.job.runAt === job.runAt ? 'kept' : 'woken', state: job.state };
}

/** Returns the first step of this event that no handler has read: that of the present wait, or of the next one. */
function openEvent(table: Table, job: Job, name: string): { stepName: string; before: Step | undefined } {
  for (let n = 1; ; n += 1) {
    const stepName = numberedName(name, n);
    const before = table.step(job, 'event', stepName);
    if (before === undefined || before.status === 'waiting' || before.status === 'arrived') return { stepName, before };
  }
}

/** Returns the settlement with which the job waits no longer if its event arrived before the settlement. */
export function withArrivedEvent(table: Table, job: Job, settlement: Settlement, now: number): Settlement {
  if (settlement.kind !== 'suspend' || settlement.event === null) return settlement;
  const step = table.step(job, 'event', settlement.event);
  return step?.status === 'arrived' ? { ...settlement, until: now } : settlement;
}
