/**
 * Dependencies in the model: a list of edges, searched afresh each time. The counts in a job's record are never updated
 * incrementally; they are computed from the edges after every change.
 *
 * Must never import from core/operations, and from core/lifecycle/dependencies.ts only the messages of refusals.
 */

import type { HistoryEvent, HistoryRow } from '../../src/core/job/history.ts';
import type { Job, OnDependencyFailed } from '../../src/core/job/job.ts';
import { type DependencyProblem, refuseDependency } from '../../src/core/lifecycle/dependencies.ts';
import type { Refused } from '../../src/core/ports/refusal.ts';
import type { Model } from './model.ts';

/** What became of a job, as the message of a child's failure names it. */
type How = 'done' | 'failed' | 'was cancelled' | 'was deleted';

const isUnsuccessful = ({ state }: Job): boolean => state === 'failed' || state === 'cancelled';
export const hasEnded = (job: Job): boolean => job.state === 'done' || isUnsuccessful(job);

function ruleOf(model: Model, job: Job): OnDependencyFailed {
  return job.policy.onDependencyFailed ?? model.settings(job.queue).onDependencyFailed;
}

/** Returns the jobs with an open edge from this one, by insertion. */
export function childrenOf(model: Model, seq: number): readonly Job[] {
  const to = model.edges.filter((edge) => edge.from === seq && edge.isOpen).map((edge) => edge.to);
  return model.jobs.filter((job) => to.includes(job.seq)).sort((a, b) => a.seq - b.seq);
}

/** Returns all jobs that can be reached over open edges, nearest first. */
export function descendants(model: Model, job: Job, isMeant: (job: Job) => boolean): readonly Job[] {
  const found = [job];
  for (const parent of found) {
    found.push(...childrenOf(model, parent.seq).filter((child) => isMeant(child) && !found.includes(child)));
  }
  return found.slice(1);
}

export function findParents(
  model: Model,
  child: { readonly id: string; readonly known?: Job },
  ids: readonly string[],
): readonly Job[] | Refused {
  const no = (problem: DependencyProblem, which: readonly string[]) => refuseDependency(child.id, problem, which);
  if (ids.includes(child.id)) return no('itself', [child.id]);
  const missing = [...new Set(ids)].filter((id) => model.get(id) === undefined);
  if (missing.length > 0) return no('missing', missing);
  const parents = [...new Set(ids)].map((id) => model.get(id) as Job);
  const under = child.known === undefined ? [] : descendants(model, child.known, () => true);
  const circular = parents.filter((parent) => parent.state !== 'done' && under.includes(parent));
  return circular.length === 0 ? parents : no('cycle', circular.map(({ id }) => id).sort());
}

/** Adds the edges from these parents: missing ones, and closed ones that open again. */
export function waitFor(model: Model, child: Job, parents: readonly Job[], now: number): void {
  const rule = ruleOf(model, child);
  const isOpen = (parent: Job): boolean => parent.state !== 'done' && !(rule === 'run' && isUnsuccessful(parent));
  const edgeTo = (parent: Job) => model.edges.find((edge) => edge.from === parent.seq && edge.to === child.seq);
  const made = parents.filter((parent) => edgeTo(parent) === undefined);
  const opened = parents.filter((parent) => edgeTo(parent)?.isOpen === false && isOpen(parent));
  for (const parent of [...made, ...opened]) {
    removeEdge(model, child, parent);
    model.edges = [...model.edges, { from: parent.seq, to: child.seq, isOpen: isOpen(parent) }];
  }
  model.recount();
  const bad = [...made, ...opened].find(isUnsuccessful);
  if (rule === 'fail' && bad !== undefined)
    notify(
      model,
      [failBy(model, child, `job ${bad.id} ${bad.state === 'failed' ? 'failed' : 'was cancelled'}`, now)],
      now,
    );
}

/** Sets `freedAt` of a job that was blocked before a change and is not any more. */
export function markFreed(model: Model, id: string, wasBlocked: boolean, now: number): void {
  const job = model.get(id);
  if (wasBlocked && job?.state === 'waiting' && !model.isBlocked(job)) model.keep({ ...job, freedAt: now });
}

/** Removes the edge from a parent. */
export function removeEdge(model: Model, child: Job, parent: Job): void {
  model.edges = model.edges.filter((edge) => edge.from !== parent.seq || edge.to !== child.seq);
  model.recount();
}

export interface ParentChange {
  readonly id: string;
  readonly seq: number;
  readonly how: How;
}

/** Returns the change that affects the jobs which wait for this one, if there is one. */
export function changeOf({ id, seq, state }: Job): readonly ParentChange[] {
  if (state === 'done' || state === 'failed') return [{ id, seq, how: state }];
  return state === 'cancelled' ? [{ id, seq, how: 'was cancelled' }] : [];
}

/** Notifies children, one parent after another; further effects follow after all earlier ones. */
export function notify(model: Model, changes: readonly ParentChange[], now: number): void {
  const pending = [...changes];
  for (const parent of pending) {
    for (const child of childrenOf(model, parent.seq)) pending.push(...applyToChild(model, child, parent, now));
  }
}

function applyToChild(model: Model, child: Job, { id, seq, how }: ParentChange, now: number): readonly ParentChange[] {
  const rule = ruleOf(model, child);
  const isDeleted = how === 'was deleted';
  const isFree = how === 'done' || rule === 'run';
  if (isFree || isDeleted) {
    model.edges = model.edges.map((edge) =>
      edge.from === seq && edge.to === child.seq ? { ...edge, isOpen: false } : edge,
    );
    model.recount();
  }
  const after = model.get(child.id) as Job;
  if (isFree && after.state === 'waiting' && !model.isBlocked(after))
    become(model, { ...after, freedAt: now }, 'unblocked', null, now);
  const isLost = !isFree && !hasEnded(after) && (isDeleted || rule === 'fail');
  return isLost ? [failBy(model, after, `job ${id} ${how}`, now)] : [];
}

function failBy(model: Model, job: Job, message: string, now: number): ParentChange {
  const failure = { group: 'dependency', message, detail: null };
  const failed: Job = { ...job, state: 'failed', failure, endedAt: now, returnedAt: null, suspension: null };
  become(model, failed, 'failed', message, now);
  return { id: job.id, seq: job.seq, how: 'failed' };
}

function become(model: Model, job: Job, event: HistoryEvent, note: string | null, now: number): void {
  const row: HistoryRow = { at: now, event, state: job.state, attempt: job.attempt, token: null, by: null, note };
  model.become({ job, row }, now);
}
