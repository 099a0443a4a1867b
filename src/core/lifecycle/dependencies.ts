/**
 * Dependencies between jobs, decided: what a child makes of a change in one of its parents, and what it may wait for.
 *
 * An edge leads from a parent to a child. It is open until the parent is done, and then closed for good: a parent
 * that is done once more blocks nobody again. Of its parents a child keeps three numbers, so that a settlement never
 * looks at the others: how many edges it has, how many are open, and how many of those lead from a job that failed
 * or was cancelled. Pure, as lifecycle.ts is; `operations/dependents.ts` finds the children and keeps what is said here.
 */
import type { HistoryRow } from '../job/history.ts';
import type { Failure, Job, OnDependencyFailed, Parents } from '../job/job.ts';
import { isBad, isEnded } from '../job/job.ts';
import type { Refused } from '../ports/refusal.ts';
import type { QueueSettings } from '../settings/settings.ts';
import { transition } from './lifecycle.ts';

/** How many jobs one may wait for, and how many may wait for one: all of them are released in one step. */
export const MAX_PARENTS = 10_000;
export const MAX_DEPENDENTS = 100_000;
/** How many jobs are looked at for a cycle before it is given up. */
export const MAX_WALKED = 100_000;
const MAX_NAMED = 10;

export const DEPENDENCY_GROUP = 'dependency';

/** A parent before and after what happened to it; null after it was deleted. */
export interface Turn {
  readonly before: Job;
  readonly after: Job | null;
}

/** What becomes of a child: its next record, a row where it is more than a count, and whether the edge stays open. */
export interface Followed {
  readonly job: Job;
  readonly row: HistoryRow | null;
  readonly isOpen: boolean;
}

export function ruleOf({ policy }: Pick<Job, 'policy'>, settings: QueueSettings): OnDependencyFailed {
  return policy.onDependencyFailed ?? settings.onDependencyFailed;
}

/** Whether a child would wait for this parent. */
export function isOpenFor(parent: Job, rule: OnDependencyFailed): boolean {
  return parent.state !== 'done' && !(rule === 'run' && isBad(parent.state));
}

/** The numbers of these parents, to be added to those a child has. */
export function tally(before: Parents | null, parents: readonly Job[], rule: OnDependencyFailed): Parents | null {
  const open = parents.filter((parent) => isOpenFor(parent, rule));
  const bad = open.filter(({ state }) => isBad(state));
  return plus(before, { of: parents.length, open: open.length, bad: bad.length });
}

export function plus(before: Parents | null, more: Parents): Parents | null {
  const { of, open, bad } = before ?? { of: 0, open: 0, bad: 0 };
  const sum = { of: of + more.of, open: open + more.open, bad: bad + more.bad };
  return sum.of === 0 ? null : sum;
}

/** Whether those who wait for a job must hear of this. */
export function isNews({ before, after }: Turn): boolean {
  return after === null || after.state === 'done' || isBad(before.state) !== isBad(after.state);
}

/** What a child makes of what happened to one of those it waits for. */
export function followed(child: Job, turn: Turn, rule: OnDependencyFailed, now: number): Followed {
  const { before, after } = turn;
  const calm = counted(child, { of: 0, open: 0, bad: isBad(before.state) ? -1 : 0 });
  const isOver = after === null || isBad(after.state);
  if (!isOver) return after.state === 'done' ? closed(calm, now) : { job: calm, row: null, isOpen: true };
  if (rule === 'run' || (after === null && isEnded(child.state))) return closed(calm, now);
  const job = counted(calm, after === null ? { of: 0, open: -1, bad: 0 } : { of: 0, open: 0, bad: 1 });
  const isOpen = after !== null;
  const isLeft = isEnded(child.state) || (isOpen && rule === 'hold');
  return isLeft ? { job, row: null, isOpen } : { ...failedByParent(job, turn, now), isOpen };
}

function closed(child: Job, now: number): Followed {
  const job = counted(child, { of: 0, open: -1, bad: 0 });
  const isFree = job.state === 'waiting' && job.parents?.open === 0;
  return { job, row: isFree ? transition(job, 'unblocked', now).row : null, isOpen: false };
}

function counted(child: Job, more: Parents): Job {
  return { ...child, parents: plus(child.parents, more) };
}

/** A child fails because a job that it waits for will not be done. */
export function failedByParent(child: Job, { before, after }: Turn, now: number): { job: Job; row: HistoryRow } {
  const what = after === null ? 'was deleted' : after.state === 'failed' ? 'failed' : 'was cancelled';
  const failure: Failure = { group: DEPENDENCY_GROUP, message: `job ${before.id} ${what}`, detail: null };
  const job: Job = { ...child, state: 'failed', endedAt: now, returnedAt: null, failure };
  return transition(job, 'failed', now, { note: failure.message });
}

// ── what cannot be waited for ────────────────────────────────────────────────────────────────────────────────

const PROBLEMS = {
  itself: () => 'itself',
  'too-many': (count: number) => `${count} jobs: ${MAX_PARENTS} are the most`,
  missing: (_: number, ids: string) => `jobs that do not exist: ${ids}`,
  crowded: (_: number, ids: string) => `jobs that ${MAX_DEPENDENTS} others wait for already: ${ids}`,
  cycle: (_: number, ids: string) => `jobs that wait for it, which would be a cycle: ${ids}`,
  'too-large': () => `other jobs: more than ${MAX_WALKED} jobs wait for it, too many to rule out a cycle`,
};
export type DependencyProblem = keyof typeof PROBLEMS;

/** `count`: of the ids, where not all of them are named here. */
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
  const message = `${dependents} ${jobs} ${verb} for job ${id}; say whether to cancel them too or to leave them`;
  return { ok: false, refusal: { code: 'has-dependents', message, dependents } };
}
