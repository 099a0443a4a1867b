/**
 * Those who wait for a job hear of what happens to it, in the same step.
 *
 * Invariant: a child's numbers are those of its edges, a parent's `dependents` is how many of its edges are open, and a
 * parent that is done has none. What follows from what follows is worked off in a line, never by recursion: a chain of jobs may
 * be longer than the stack is deep.
 */

import type { Job, OnDependencyFailed, Parents } from '../job/job.ts';
import { isBad, isEnded } from '../job/job.ts';
import type { Turn } from '../lifecycle/dependencies.ts';
import {
  failedByParent,
  followed,
  isNews,
  isOpenFor,
  MAX_DEPENDENTS,
  MAX_PARENTS,
  MAX_WALKED,
  refuseDependency,
  ruleOf,
  tally,
} from '../lifecycle/dependencies.ts';
import type { Transition } from '../lifecycle/lifecycle.ts';
import type { Refused } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { apply } from './apply.ts';
import { followLeader } from './coalescing.ts';

export function applyWithDependents(table: Table, before: Job, change: Transition, now: number): void {
  apply(table, before, change, now);
  const followers = followLeader(table, before, change, now);
  const turns = [{ before, after: change.job }, ...followers].filter((turn) => turn.before.dependents > 0);
  if (turns.length > 0) tellDependents(table, turns, now);
}

export function tellDependents(table: Table, turns: readonly Turn[], now: number): void {
  const line = [...turns];
  for (const turn of line) if (isNews(turn)) line.push(...tellOf(table, turn, now));
}

/** Tells the children of one parent, by insertion. Answers those of them whose own children must hear of it. */
function tellOf(table: Table, turn: Turn, now: number): readonly Turn[] {
  const next: Turn[] = [];
  let closed = 0;
  for (const listed of table.openChildren(turn.before)) {
    // As it is by then: a hook of one before it may have been put in line behind it.
    const child = table.get(listed.id) ?? listed;
    const { job, row, isOpen } = followed(child, turn, ruleOf(child, table.settings(child.queue)), now);
    if (row === null) table.replace(child, job, null);
    else apply(table, child, { job, row }, now);
    if (child.dependents > 0 && child.state !== job.state) next.push({ before: child, after: job });
    if (isOpen) continue;
    table.setEdge(turn.before, child, 'closed');
    closed += 1;
  }
  // One that is done has let go of all of them already.
  if (turn.after !== null && turn.after.state !== 'done' && closed > 0) countDependents(table, turn.after.id, -closed);
  return next;
}

function countDependents(table: Table, id: string, more: number): void {
  const job = table.get(id);
  if (job !== undefined) table.replace(job, { ...job, dependents: job.dependents + more }, null);
}

/** The edges of a child to parents that were found to be right for it. The child's numbers stand in its record already. */
export function waitFor(table: Table, child: Job, parents: readonly Job[], now: number): void {
  const rule = ruleOf(child, table.settings(child.queue));
  for (const parent of parents) {
    const isOpen = isOpenFor(parent, rule);
    table.setEdge(parent, child, isOpen ? 'open' : 'closed');
    if (isOpen) countDependents(table, parent.id, 1);
  }
  const bad = rule === 'fail' ? parents.find(({ state }) => isBad(state)) : undefined;
  if (bad !== undefined)
    applyWithDependents(table, child, failedByParent(child, { before: bad, after: bad }, now), now);
}

/** What a child waits for once these are added: its numbers, and those of them to which an edge must be made or opened. */
export function joined(
  table: Table,
  child: Job,
  parents: readonly Job[],
  rule: OnDependencyFailed,
): { readonly parents: Parents | null; readonly taken: readonly Job[] } {
  const known = parents.map((parent) => ({ parent, edge: table.edge(parent, child) }));
  const made = known.filter(({ edge }) => edge === null).map(({ parent }) => parent);
  const opened = known
    .filter(({ edge, parent }) => edge === 'closed' && isOpenFor(parent, rule))
    .map(({ parent }) => parent);
  const sum = tally(tally(child.parents, made, rule), opened, rule);
  return { parents: sum && { ...sum, of: sum.of - opened.length }, taken: [...made, ...opened] };
}

/** A child that is forgotten lets go of those it waits for. */
export function leaveParents(table: Table, child: Job): void {
  if (child.parents === null) return;
  if (child.parents.open > 0) for (const parent of table.openParents(child)) countDependents(table, parent.id, -1);
  table.removeEdges(child);
}

/** Takes back what can be taken back: parents that are gone have no edge any more. Answers those that were there. */
export function stopWaiting(table: Table, child: Job, parents: readonly Job[]): void {
  for (const parent of parents) {
    if (table.edge(parent, child) === 'open') countDependents(table, parent.id, -1);
    table.setEdge(parent, child, null);
  }
}

/** A job that is to wait: new, or as it is known. */
type Child = Pick<Job, 'id'> & { readonly known?: Job };

/** The jobs that are to be waited for, or why they cannot be. */
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

/** Only a job that others wait for can close a circle, and only with one of those. */
function cycleProblem(table: Table, child: Job | undefined, parents: readonly Job[]): Refused | undefined {
  if (child === undefined || child.dependents === 0) return undefined;
  const open = new Set(parents.filter(({ state }) => state !== 'done').map(({ id }) => id));
  if (open.size === 0) return undefined;
  const below = descendants(table, child, MAX_WALKED, () => true);
  if (below === null) return refuseDependency(child.id, 'too-large', []);
  const circular = below.filter(({ id }) => open.has(id)).map(({ id }) => id);
  return circular.length === 0 ? undefined : refuseDependency(child.id, 'cycle', circular.sort());
}

/** All that wait for a job, and for those, and so on, the nearest first; null when there are more than `most`. */
function descendants(table: Table, job: Job, most: number, isMeant: (child: Job) => boolean): readonly Job[] | null {
  const known = new Set([job.id]);
  const line = [job];
  for (const parent of line) {
    for (const child of parent.dependents > 0 ? table.openChildren(parent) : []) {
      if (known.has(child.id) || !isMeant(child)) continue;
      known.add(child.id);
      line.push(child);
    }
    if (line.length > most) return null;
  }
  return line.slice(1);
}

/** Those that have not ended and wait for this one, directly or not. */
export function waitingBelow(table: Table, job: Job): readonly Job[] {
  return descendants(table, job, Number.POSITIVE_INFINITY, ({ state }) => !isEnded(state)) ?? [];
}

export function countWaiting(table: Table, job: Job): number {
  return job.dependents === 0 ? 0 : table.openChildren(job).filter(({ state }) => !isEnded(state)).length;
}
