/**
 * Jobs that wait for others, on the model: a list of edges, searched afresh each time. The numbers in a job's record
 * are never counted along; they are worked out from the edges whenever anything has changed.
 *
 * Must never import from core/operations, and of core/dependencies only the words of a refusal.
 */

import type { HistoryEvent, HistoryRow } from '../../src/core/job/history.ts';
import type { Job, OnDependencyFailed } from '../../src/core/job/job.ts';
import { type DependencyProblem, refuseDependency } from '../../src/core/lifecycle/dependencies.ts';
import type { Refused } from '../../src/core/ports/refusal.ts';
import type { Model } from './model.ts';

/** What came of a job, in the words by which a child that fails names it. */
type How = 'done' | 'failed' | 'was cancelled' | 'was deleted';

const isBad = ({ state }: Job): boolean => state === 'failed' || state === 'cancelled';
export const isOver = (job: Job): boolean => job.state === 'done' || isBad(job);

function ruleOf(model: Model, job: Job): OnDependencyFailed {
  return job.policy.onDependencyFailed ?? model.settings(job.queue).onDependencyFailed;
}

/** Those with an open edge from a job, by insertion. */
export function childrenOf(model: Model, seq: number): readonly Job[] {
  const to = model.edges.filter((edge) => edge.from === seq && edge.isOpen).map((edge) => edge.to);
  return model.jobs.filter((job) => to.includes(job.seq)).sort((a, b) => a.seq - b.seq);
}

/** All that can be reached over open edges, the nearest first. */
export function below(model: Model, job: Job, isMeant: (job: Job) => boolean): readonly Job[] {
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
  const under = child.known === undefined ? [] : below(model, child.known, () => true);
  const circular = parents.filter((parent) => parent.state !== 'done' && under.includes(parent));
  return circular.length === 0 ? parents : no('cycle', circular.map(({ id }) => id).sort());
}

/** The edges that a child gets by waiting for these: those it has not, and then those that are closed and open again. */
export function waitFor(model: Model, child: Job, parents: readonly Job[], now: number): void {
  const rule = ruleOf(model, child);
  const isOpen = (parent: Job): boolean => parent.state !== 'done' && !(rule === 'run' && isBad(parent));
  const edgeTo = (parent: Job) => model.edges.find((edge) => edge.from === parent.seq && edge.to === child.seq);
  const made = parents.filter((parent) => edgeTo(parent) === undefined);
  const opened = parents.filter((parent) => edgeTo(parent)?.isOpen === false && isOpen(parent));
  for (const parent of [...made, ...opened]) {
    part(model, child, parent);
    model.edges = [...model.edges, { from: parent.seq, to: child.seq, isOpen: isOpen(parent) }];
  }
  model.recount();
  const bad = [...made, ...opened].find(isBad);
  if (rule === 'fail' && bad !== undefined)
    tell(
      model,
      [failBy(model, child, `job ${bad.id} ${bad.state === 'failed' ? 'failed' : 'was cancelled'}`, now)],
      now,
    );
}

/** A job that was blocked before what has just been done to it, and is not any more, could be claimed from now on. */
export function comeFree(model: Model, id: string, wasBlocked: boolean, now: number): void {
  const job = model.get(id);
  if (wasBlocked && job?.state === 'waiting' && !model.isBlocked(job)) model.keep({ ...job, freedAt: now });
}

/** The opposite of waiting for one. */
export function part(model: Model, child: Job, parent: Job): void {
  model.edges = model.edges.filter((edge) => edge.from !== parent.seq || edge.to !== child.seq);
  model.recount();
}

export interface News {
  readonly id: string;
  readonly seq: number;
  readonly how: How;
}

/** What a job has become, if those who wait for it must hear of it. */
export function newsOf({ id, seq, state }: Job): readonly News[] {
  if (state === 'done' || state === 'failed') return [{ id, seq, how: state }];
  return state === 'cancelled' ? [{ id, seq, how: 'was cancelled' }] : [];
}

/** Those who wait hear of it, one parent after the other, and what follows from that comes after all that was known before. */
export function tell(model: Model, news: readonly News[], now: number): void {
  const line = [...news];
  for (const parent of line) {
    for (const child of childrenOf(model, parent.seq)) line.push(...hear(model, child, parent, now));
  }
}

function hear(model: Model, child: Job, { id, seq, how }: News, now: number): readonly News[] {
  const rule = ruleOf(model, child);
  const isGone = how === 'was deleted';
  const isFree = how === 'done' || rule === 'run';
  if (isFree || isGone) {
    model.edges = model.edges.map((edge) =>
      edge.from === seq && edge.to === child.seq ? { ...edge, isOpen: false } : edge,
    );
    model.recount();
  }
  const after = model.get(child.id) as Job;
  if (isFree && after.state === 'waiting' && !model.isBlocked(after))
    become(model, { ...after, freedAt: now }, 'unblocked', null, now);
  const isLost = !isFree && !isOver(after) && (isGone || rule === 'fail');
  return isLost ? [failBy(model, after, `job ${id} ${how}`, now)] : [];
}

function failBy(model: Model, job: Job, message: string, now: number): News {
  const failure = { group: 'dependency', message, detail: null };
  const failed: Job = { ...job, state: 'failed', failure, endedAt: now, returnedAt: null };
  become(model, failed, 'failed', message, now);
  return { id: job.id, seq: job.seq, how: 'failed' };
}

function become(model: Model, job: Job, event: HistoryEvent, note: string | null, now: number): void {
  const row: HistoryRow = { at: now, event, state: job.state, attempt: job.attempt, token: null, by: null, note };
  model.become({ job, row }, now);
}
