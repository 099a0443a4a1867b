/**
 * Dependency rules: how a child follows a change of one of its parents, and which jobs it may wait for.
 *
 * An edge leads from a parent to a child. It is open until the parent is done, and then closed for good: a parent that
 * is done again blocks no child. A child keeps three counts of its parents, so that a settlement never reads the other
 * parents: how many edges it has, how many are open, and how many open edges lead from a failed or cancelled job. Pure,
 * like lifecycle.ts; `operations/dependents.ts` finds the children and stores the result.
 */
import type { HistoryRow } from '../job/history.ts';
import type { Failure, Job, OnDependencyFailed, Parents } from '../job/job.ts';
import { isEnded, isUnsuccessful } from '../job/job.ts';
import type { Refused } from '../ports/refusal.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { transition } from './lifecycle.ts';

/** How many jobs one job may wait for, and how many may wait for one: all of them are released in one step. */
export const MAX_PARENTS = 10_000;
export const MAX_DEPENDENTS = 100_000;
/** How many jobs are visited in the search for a cycle before the call is refused. */
export const MAX_WALKED = 100_000;
/** How many ids a refusal names. */
export const MAX_NAMED = 10;

export const DEPENDENCY_GROUP = 'dependency';

/** A parent before and after a change; `after` is null if it was deleted. */
export interface ParentChange {
  readonly before: Job;
  readonly after: Job | null;
}

/**
 * A child after the change: its next record, a history row unless only counts changed, and whether the edge stays open.
 */
export interface ChildChange {
  readonly job: Job;
  readonly row: HistoryRow | null;
  readonly isOpen: boolean;
}

export function ruleOf({ policy }: Pick<Job, 'policy'>, settings: QueueSettings): OnDependencyFailed {
  return policy.onDependencyFailed ?? settings.onDependencyFailed;
}

/** Returns whether a child would wait for this parent. */
export function isOpenFor(parent: Job, rule: OnDependencyFailed): boolean {
  return parent.state !== 'done' && !(rule === 'run' && isUnsuccessful(parent.state));
}

/** Returns the child's counts with these parents added. */
export function addParents(before: Parents | null, parents: readonly Job[], rule: OnDependencyFailed): Parents | null {
  const open = parents.filter((parent) => isOpenFor(parent, rule));
  const bad = open.filter(({ state }) => isUnsuccessful(state));
  return addCounts(before, { of: parents.length, open: open.length, bad: bad.length });
}

export function addCounts(before: Parents | null, more: Parents): Parents | null {
  const { of, open, bad } = before ?? { of: 0, open: 0, bad: 0 };
  const sum = { of: of + more.of, open: open + more.open, bad: bad + more.bad };
  return sum.of === 0 ? null : sum;
}

/** Returns whether the change affects the jobs that wait for this one. */
export function affectsDependents({ before, after }: ParentChange): boolean {
  return after === null || after.state === 'done' || isUnsuccessful(before.state) !== isUnsuccessful(after.state);
}

/** Returns the child after a change of one of its open parents. */
export function followParent(child: Job, change: ParentChange, rule: OnDependencyFailed, now: number): ChildChange {
  const { before, after } = change;
  const cleared = withCounts(child, { of: 0, open: 0, bad: isUnsuccessful(before.state) ? -1 : 0 });
  const isOver = after === null || isUnsuccessful(after.state);
  if (!isOver) return after.state === 'done' ? closed(cleared, now) : { job: cleared, row: null, isOpen: true };
  if (rule === 'run' || (after === null && isEnded(child.state))) return closed(cleared, now);
  const job = withCounts(cleared, after === null ? { of: 0, open: -1, bad: 0 } : { of: 0, open: 0, bad: 1 });
  const isOpen = after !== null;
  const staysUnchanged = isEnded(child.state) || (isOpen && rule === 'hold');
  return staysUnchanged ? { job, row: null, isOpen } : { ...failedByParent(job, change, now), isOpen };
}

function closed(child: Job, now: number): ChildChange {
  const job = withCounts(child, { of: 0, open: -1, bad: 0 });
  const isFree = job.state === 'waiting' && job.parents?.open === 0;
  return { job, row: isFree ? transition(job, 'unblocked', now).row : null, isOpen: false };
}

function withCounts(child: Job, more: Parents): Job {
  return { ...child, parents: addCounts(child.parents, more) };
}

/** Fails a child because a job that it waits for will not be done. */
export function failedByParent(
  child: Job,
  { before, after }: ParentChange,
  now: number,
): { job: Job; row: HistoryRow } {
  const what = after === null ? 'was deleted' : after.state === 'failed' ? 'failed' : 'was cancelled';
  const failure: Failure = { group: DEPENDENCY_GROUP, message: `job ${before.id} ${what}`, detail: null };
  const job: Job = { ...child, state: 'failed', endedAt: now, returnedAt: null, failure, suspension: null };
  return transition(job, 'failed', now, { note: failure.message });
}

// ── invalid dependencies ─────────────────────────────────────────────────────────────────────────────────────

const PROBLEMS = {
  itself: () => 'itself',
  'too-many': (count: number) => `${count} jobs: ${MAX_PARENTS} are the most`,
  missing: (_: number, ids: string) => `jobs that do not exist: ${ids}`,
  crowded: (_: number, ids: string) => `jobs that ${MAX_DEPENDENTS} others wait for already: ${ids}`,
  cycle: (_: number, ids: string) => `jobs that wait for it, because that is a cycle: ${ids}`,
  'too-large': () => `other jobs: more than ${MAX_WALKED} jobs wait for it, too many to rule out a cycle`,
};
export type DependencyProblem = keyof typeof PROBLEMS;

/** `count`: the number of ids, if not all of them are listed in `ids`. */
export function refuseDependency(
  child: string,
  problem: DependencyProblem,
  ids: readonly string[],
  count = ids.length,
): Refused {
  const named = ids.slice(0, MAX_NAMED);
  const more = count > named.length ? ` and ${count - named.length} more` : '';
  const message = `job ${child} cannot wait for ${PROBLEMS[problem](count, named.join(', ') + more)}`;
  return { ok: false, refusal: { code: 'bad-dependency', message } };
}

export function refuseDependents(id: string, dependents: number): Refused {
  const [jobs, verb] = dependents === 1 ? ['job', 'waits'] : ['jobs', 'wait'];
  const message = `${dependents} ${jobs} ${verb} for job ${id}: choose whether to cancel or to leave them`;
  return { ok: false, refusal: { code: 'has-dependents', message, dependents } };
}
