/** Changes a job without ending its attempt or changing its state, including its dependencies. */

import type { Job, Parents } from '../job/job.ts';
import { isUnsuccessful } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { addCounts, ruleOf } from '../lifecycle/dependencies.ts';
import { changed } from '../lifecycle/lifecycle.ts';
import type { JobChanges, TargetResult } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuseState } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { apply, isRefusal, isRefused, target } from './apply.ts';
import { findParents, stopWaiting, waitFor, withParents } from './dependents.ts';

export function change(table: Table, changes: readonly JobChanges[], { now }: Moment): readonly TargetResult[] {
  return changes.map((request) => changeOne(table, request, now));
}

function changeOne(table: Table, request: JobChanges, now: number): TargetResult {
  const job = target(table, request);
  if (isRefused(job)) return job;
  const next = changed(job, request, now);
  if (typeof next === 'string') return refuseState(job, 'change');
  const plan = request.dependsOn === undefined ? null : planOf(table, job, request.dependsOn);
  if (plan !== null && 'ok' in plan) return plan;
  const after = plan === null ? next.job : { ...next.job, parents: plan.parents };
  apply(table, job, { job: after, row: next.row }, now);
  if (plan === null) return { ok: true, state: after.state };
  stopWaiting(table, after, plan.removed);
  waitFor(table, after, plan.taken, now);
  return { ok: true, state: table.get(job.id)?.state ?? after.state };
}

interface Plan {
  readonly parents: Parents | null;
  readonly removed: readonly Job[];
  readonly taken: readonly Job[];
}

/** Plans the dependencies after the change. An id that is both added and removed is added. */
function planOf(table: Table, job: Job, request: NonNullable<JobChanges['dependsOn']>): Plan | Refused {
  const { add = [], remove = [] } = request;
  const found = findParents(table, { id: job.id, known: job }, add);
  if (isRefusal(found)) return found;
  const removed = [...new Set(remove)]
    .filter((id) => !add.includes(id))
    .flatMap((id) => table.get(id) ?? [])
    .filter((parent) => table.edge(parent, job) !== null);
  const open = removed.filter((parent) => table.edge(parent, job) === 'open');
  const bad = open.filter(({ state }) => isUnsuccessful(state));
  const fewer = addCounts(job.parents, { of: -removed.length, open: -open.length, bad: -bad.length });
  return { removed, ...withParents(table, { ...job, parents: fewer }, found, ruleOf(job, table.settings(job.queue))) };
}
