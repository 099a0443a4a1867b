/**
 * Applies a job's changes to the jobs that wait for it, in the same step.
 *
 * Invariant: a child's counts are those of its edges, a parent's `dependents` is its number of open edges, and a done
 * parent has none. Further effects are processed in a queue, never by recursion: a chain of jobs may be longer than the
 * stack is deep.
 */

import type { Job, OnDependencyFailed, Parents } from '../job/job.ts';
import { isEnded, isUnsuccessful } from '../job/job.ts';
import type { ParentChange } from '../lifecycle/dependencies.ts';
import {
  addParents,
  affectsDependents,
  failedByParent,
  followParent,
  isOpenFor,
  MAX_DEPENDENTS,
  MAX_PARENTS,
  MAX_WALKED,
  refuseDependency,
  ruleOf,
} from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import type { Refused } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { apply } from './apply.ts';
import { followLeader } from './coalescing.ts';

export function applyWithDependents(table: Table, before: Job, change: Transition, now: number): void {
  apply(table, before, change, now);
  const followers = followLeader(table, before, change, now);
  const parentChanges = [{ before, after: change.job }, ...followers].filter(
    (parentChange) => parentChange.before.dependents > 0,
  );
  if (parentChanges.length > 0) notifyDependents(table, parentChanges, now);
}

export function notifyDependents(table: Table, parentChanges: readonly ParentChange[], now: number): void {
  const pending = [...parentChanges];
  for (const parentChange of pending)
    if (affectsDependents(parentChange)) pending.push(...notifyChildren(table, parentChange, now));
}

/** Applies a parent's change to its children, by insertion. Returns the changes that affect children of their own. */
function notifyChildren(table: Table, parentChange: ParentChange, now: number): readonly ParentChange[] {
  const next: ParentChange[] = [];
  let closed = 0;
  for (const listed of table.openChildren(parentChange.before)) {
    // Its present record: a webhook of an earlier child may have become its dependent.
    const child = table.get(listed.id) ?? listed;
    const { job, row, isOpen } = followParent(child, parentChange, ruleOf(child, table.settings(child.queue)), now);
    if (row === null) table.replace(child, job, null);
    else apply(table, child, { job, row }, now);
    if (child.dependents > 0 && child.state !== job.state) next.push({ before: child, after: job });
    if (isOpen) continue;
    table.setEdge(parentChange.before, child, 'closed');
    closed += 1;
  }
  // A done parent has released all of its edges already.
  if (parentChange.after !== null && parentChange.after.state !== 'done' && closed > 0)
    countDependents(table, parentChange.after.id, -closed);
  return next;
}

function countDependents(table: Table, id: string, more: number): void {
  const job = table.get(id);
  if (job !== undefined) table.replace(job, { ...job, dependents: job.dependents + more }, null);
}

/** Sets the edges of a child to parents that were checked. The child's counts are in its record already. */
export function waitFor(table: Table, child: Job, parents: readonly Job[], now: number): void {
  const rule = ruleOf(child, table.settings(child.queue));
  for (const parent of parents) {
    const isOpen = isOpenFor(parent, rule);
    table.setEdge(parent, child, isOpen ? 'open' : 'closed');
    if (isOpen) countDependents(table, parent.id, 1);
  }
  const bad = rule === 'fail' ? parents.find(({ state }) => isUnsuccessful(state)) : undefined;
  if (bad !== undefined)
    applyWithDependents(table, child, failedByParent(child, { before: bad, after: bad }, now), now);
}

/** Returns a child's counts with these parents added, and the parents to which an edge must be created or opened. */
export function withParents(
  table: Table,
  child: Job,
  parents: readonly Job[],
  rule: OnDependencyFailed,
): { readonly parents: Parents | null; readonly taken: readonly Job[] } {
  const known = parents.map((parent) => ({ parent, edge: table.edge(parent, child) }));
  const added = known.filter(({ edge }) => edge === null).map(({ parent }) => parent);
  const opened = known
    .filter(({ edge, parent }) => edge === 'closed' && isOpenFor(parent, rule))
    .map(({ parent }) => parent);
  const sum = addParents(addParents(child.parents, added, rule), opened, rule);
  return { parents: sum && { ...sum, of: sum.of - opened.length }, taken: [...added, ...opened] };
}

/** Removes the edges of a child that is deleted. */
export function leaveParents(table: Table, child: Job): void {
  if (child.parents === null) return;
  if (child.parents.open > 0) for (const parent of table.openParents(child)) countDependents(table, parent.id, -1);
  table.removeEdges(child);
}

/** Removes edges to these parents. Deleted parents have none any more. */
export function stopWaiting(table: Table, child: Job, parents: readonly Job[]): void {
  for (const parent of parents) {
    if (table.edge(parent, child) === 'open') countDependents(table, parent.id, -1);
    table.setEdge(parent, child, null);
  }
}

/** A job that is to wait: a new one, or an existing one as `known`. */
type Child = Pick<Job, 'id'> & { readonly known?: Job };

/** Returns the jobs to wait for, or a refusal. */
export function findParents(table: Table, child: Child, ids: readonly string[]): readonly Job[] | Refused {
  const wanted = [...new Set(ids)];
  const count = wanted.length + (child.known?.parents?.of ?? 0);
  if (wanted.includes(child.id)) return refuseDependency(child.id, 'itself', [child.id]);
  if (count > MAX_PARENTS) return refuseDependency(child.id, 'too-many', [], count);
  const found = wanted.map((id) => ({ id, job: table.get(id) }));
  const missing = found.filter(({ job }) => job === undefined).map(({ id }) => id);
  if (missing.length > 0) return refuseDependency(child.id, 'missing', missing);
  const parents = found.flatMap(({ job }) => job ?? []);
  const crowded = parents.filter(({ dependents }) => dependents >= MAX_DEPENDENTS).map(({ id }) => id);
  if (crowded.length > 0) return refuseDependency(child.id, 'crowded', crowded);
  return cycleProblem(table, child.known, parents) ?? parents;
}

/** Returns a refusal for a cycle. Only a job that others wait for can close one, and only with one of those. */
function cycleProblem(table: Table, child: Job | undefined, parents: readonly Job[]): Refused | undefined {
  if (child === undefined || child.dependents === 0) return undefined;
  const open = new Set(parents.filter(({ state }) => state !== 'done').map(({ id }) => id));
  if (open.size === 0) return undefined;
  const below = descendants(table, child, MAX_WALKED, () => true);
  if (below === null) return refuseDependency(child.id, 'too-large', []);
  const circular = below.filter(({ id }) => open.has(id)).map(({ id }) => id);
  return circular.length === 0 ? undefined : refuseDependency(child.id, 'cycle', circular.sort());
}

/** Returns all direct and indirect children of a job, nearest first; null if there are more than `most`. */
function descendants(table: Table, job: Job, most: number, isMeant: (child: Job) => boolean): readonly Job[] | null {
  const known = new Set([job.id]);
  const pending = [job];
  for (const parent of pending) {
    for (const child of parent.dependents > 0 ? table.openChildren(parent) : []) {
      if (known.has(child.id) || !isMeant(child)) continue;
      known.add(child.id);
      pending.push(child);
    }
    if (pending.length > most) return null;
  }
  return pending.slice(1);
}

/** Returns the jobs that have not ended and wait for this one, directly or indirectly. */
export function waitingBelow(table: Table, job: Job): readonly Job[] {
  return descendants(table, job, Number.POSITIVE_INFINITY, ({ state }) => !isEnded(state)) ?? [];
}

export function countWaiting(table: Table, job: Job): number {
  return job.dependents === 0 ? 0 : table.openChildren(job).filter(({ state }) => !isEnded(state)).length;
}
