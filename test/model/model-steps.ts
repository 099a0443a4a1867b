/**
 * Steps and events in the model: one plain list of the steps of all jobs. Must never import from core/operations.
 */
import type { Job } from '../../src/core/job/job.ts';
import type { Step } from '../../src/core/job/step.ts';
import type { Moment } from '../../src/core/lifecycle/clock.ts';
import { holds } from '../../src/core/lifecycle/lifecycle.ts';
import { arrivedStep, keptStep, notified } from '../../src/core/lifecycle/steps.ts';
import type { Notify, NotifyResult, Settlement, StepResult, StepWrite } from '../../src/core/ports/job-store.ts';
import { refuse, refuseState } from '../../src/core/ports/refusal.ts';
import type { Model } from './model.ts';
import { hasEnded } from './model-family.ts';

export interface OwnedStep {
  readonly id: string;
  readonly step: Step;
}

export function stepsOf(model: Model, id: string): readonly Step[] {
  return model.steps.filter((each) => each.id === id).map(({ step }) => step);
}

function find(model: Model, id: string, kind: string, name: string): Step | undefined {
  return stepsOf(model, id).find((step) => step.kind === kind && step.name === name);
}

/** Replaces or appends a step, and returns the job with the sums of all its steps. */
function put(model: Model, job: Job, step: Step): Job {
  const isSame = (each: OwnedStep): boolean => each.id === job.id && each.step.number === step.number;
  const isKnown = model.steps.some(isSame);
  const owned = { id: job.id, step };
  model.steps = isKnown ? model.steps.map((each) => (isSame(each) ? owned : each)) : [...model.steps, owned];
  const all = stepsOf(model, job.id);
  const texts = all.flatMap(({ name, result, failure }) => [name, result ?? '', failure ?? '']);
  return { ...job, steps: { count: all.length, bytes: Buffer.byteLength(texts.join('')) } };
}

const nextNumber = (model: Model, id: string): number => stepsOf(model, id).length + 1;

export function keepStep(model: Model, write: StepWrite, { now }: Moment): StepResult {
  const job = model.get(write.id);
  if (job === undefined) return refuse('not-found', `job ${write.id}`);
  if (!holds(job, write.token)) return refuse('lease-lost', `job ${write.id}`);
  const before = find(model, write.id, write.kind, write.name);
  const step = keptStep(before, write, { now, number: nextNumber(model, write.id) });
  if (step !== before) {
    model.keep(put(model, job, step));
    model.events.push({ type: 'progress', id: job.id, queue: job.queue, state: 'running' });
  }
  return { ok: true, step, now };
}

export function notifyJob(model: Model, { id, name, data }: Notify, { now }: Moment): NotifyResult {
  const job = model.get(id);
  if (job === undefined) return refuse('not-found', `job ${id}`);
  if (hasEnded(job)) return refuseState(job, 'notify');
  const read = stepsOf(model, id).filter(
    (step) => step.kind === 'event' && step.name.split('#')[0] === name && ['done', 'failed'].includes(step.status),
  );
  // Handlers read events of a name in the order of their numbers, but a program may skip some.
  let n = 1;
  while (read.some((step) => step.name === (n === 1 ? name : `${name}#${n}`))) n += 1;
  const stepName = n === 1 ? name : `${name}#${n}`;
  const before = find(model, id, 'event', stepName);
  if (before?.status === 'arrived') return { ok: true, outcome: 'ignored', state: job.state };
  const step = arrivedStep(before, stepName, data, { now, number: nextNumber(model, id) });
  const isWoken = job.state === 'waiting' && job.suspension?.event === stepName && job.runAt > now;
  model.become(notified(put(model, job, step), stepName, now), now);
  return { ok: true, outcome: isWoken ? 'woken' : 'kept', state: job.state };
}

/** Returns the settlement of a job whose event has arrived: it waits no longer. */
export function withEvent(model: Model, settlement: Settlement, now: number): Settlement {
  if (settlement.kind !== 'suspend' || settlement.event === null) return settlement;
  const step = find(model, settlement.id, 'event', settlement.event);
  return step?.status === 'arrived' ? { ...settlement, until: now } : settlement;
}
