/** Adds jobs and commits drafts. The same id twice is one job; a taken unique key is not an error. */

import type { Job } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { addParents, ruleOf } from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import { committed, created, isPlain, replacedBy } from '../lifecycle/lifecycle.ts';
import type { AddOutcome, AddResult, NewJob, TargetResult } from '../ports/job-store.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { closedState } from '../settings/delete-queue.ts';
import { apply, eventOf, isRefusal, keyHolderAgainst, takeKey } from './apply.ts';
import { findParents, waitFor } from './dependents.ts';
import { enterQueue, entryDependsOnData } from './enqueue.ts';
import { addBehindHolder } from './outbox.ts';

/** Plain jobs of one queue that follow one another are decided once. */
export function add(table: Table, jobs: readonly NewJob[], { now }: Moment): readonly AddResult[] {
  let template: Transition | null = null;
  return jobs.map((input) => {
    const known = table.get(input.id);
    if (known !== undefined) return resultOf('exists', known);
    if (template === null || template.job.queue !== input.queue || !isPlain(input))
      template = templateFor(table, input, now);
    return template === null ? addOne(table, input, now) : addLike(table, template, input);
  });
}

/** Returns what each plain job of this queue becomes now; null if that depends on more than the queue. */
function templateFor(table: Table, input: NewJob, now: number): Transition | null {
  const settings = table.settings(input.queue);
  const isOpen = table.closed() === null && closedState(settings) === null;
  if (!isPlain(input) || !isOpen || entryDependsOnData(settings)) return null;
  return enterQueue(table, created(input, { now, seq: 0, settings }));
}

function addLike(table: Table, template: Transition, { id, data }: NewJob): AddResult {
  const { queue, state } = template.job;
  table.insertLike(template, { id, data });
  table.emit({ type: 'added', id, queue, state });
  return { ok: true, outcome: 'added', id, queue, state };
}

function addOne(table: Table, input: NewJob, now: number): AddResult {
  const closed = table.closed();
  if (closed !== null) return refuse('store-moving', closed);
  const settings = table.settings(input.queue);
  const closedQueue = closedState(settings);
  if (closedQueue !== null) return refuse(`queue-${closedQueue}`, `queue ${input.queue}`);
  const holder = input.draft === true ? undefined : holderOf(table, input, now);
  if (input.onTaken?.kind === 'follow') return resultOf('added', addBehindHolder(table, input, now));
  if (holder !== undefined) return applyToHolder(table, holder, input, now);
  if (input.dependsOn !== undefined) return addChild(table, input, input.dependsOn, now);
  return resultOf('added', insert(table, created(input, { now, seq: table.takeSeq(), settings }), now));
}

function addChild(table: Table, input: NewJob, ids: readonly string[], now: number): AddResult {
  const found = findParents(table, input, ids);
  if (isRefusal(found)) return found;
  const settings = table.settings(input.queue);
  const parents = addParents(null, found, ruleOf({ policy: input.policy ?? {} }, settings));
  const job = insert(table, created(input, { now, seq: table.takeSeq(), settings, parents }), now);
  waitFor(table, job, found, now);
  return resultOf('added', table.get(job.id) ?? job);
}

function insert(table: Table, transition: Transition, now: number): Job {
  const { job, row } = enterQueue(table, transition);
  table.insert(job, row);
  if (job.state === 'waiting') takeKey(table, job, now);
  table.emit(eventOf(job, 'added'));
  return job;
}

/** Handles a taken key: the holder stays as it is, or, if it waits, gets the new data. */
function applyToHolder(table: Table, holder: Job, later: NewJob, now: number): AddResult {
  const change = replacedBy(holder, later, now);
  if (change === undefined) return resultOf('duplicate', holder);
  apply(table, holder, change, now);
  return resultOf('replaced', change.job);
}

function holderOf(table: Table, input: NewJob, now: number): Job | undefined {
  const holder = keyHolderAgainst(table, { id: input.id, unique: input.unique ?? null }, input.queue, now);
  return holder === undefined ? undefined : table.get(holder);
}

function resultOf(outcome: AddOutcome, { id, queue, state }: Job): AddResult {
  return { ok: true, outcome, id, queue, state };
}

export function commit(table: Table, ids: readonly string[], { now }: Moment): readonly TargetResult[] {
  return ids.map((id) => commitOne(table, id, now));
}

/** Commits one draft. A repeated commit finds the job committed and succeeds. */
function commitOne(table: Table, id: string, now: number): TargetResult {
  const job = table.get(id);
  if (job === undefined) return refuse('not-found', `job ${id}`);
  if (job.state !== 'draft') return { ok: true, state: job.state };
  const holder = keyHolderAgainst(table, job, job.queue, now);
  if (holder !== undefined) return refuse('key-taken', `job ${id}`, holder);
  const change = committed(job, now);
  apply(table, job, change, now);
  takeKey(table, change.job, now);
  return { ok: true, state: change.job.state };
}
