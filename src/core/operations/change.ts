/** Changing what may be changed of a job without ending its attempt or its place in life; also what it waits for. */

import type { Job, Parents } from '../job/job.ts';
import { isBad } from '../job/job.ts';
import type { Moment } from '../lifecycle/clock.ts';
import { plus, ruleOf } from '../lifecycle/dependencies.ts';
import { changed } from '../lifecycle/lifecycle.ts';
import type { JobChanges, TargetResult } from '../ports/job-store.ts';
import type { Refused } from '../ports/refusal.ts';
import { refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { apply, isRefusal, isRefused, target } from './apply.ts';
import { findParents, joined, stopWaiting, waitFor } from './dependents.ts';

export function change(table: Table, changes: readonly JobChanges[], { now }: Moment): readonly TargetResult[] {
  return changes.map((ask) => changeOne(table, ask, now));
}

function changeOne(table: Table, ask: JobChanges, now: number): TargetResult {
  const job = target(table, ask);
  if (isRefused(job)) return job;
  const next = changed(job, ask, now);
  if (typeof next === 'string') return refuse(next, `job ${job.id}`);
  const plan = ask.dependsOn === undefined ? null : planOf(table, job, ask.dependsOn);
  if (plan !== null && 'ok' in plan) return plan;
  const after = plan === null ? next.job : { ...next.job, parents: plan.parents };
  apply(table, job, { job: after, row: next.row }, now);
  if (plan === null) return { ok: true, state: after.state };
  stopWaiting(table, after, plan.left);
  waitFor(table, after, plan.taken, now);
  return { ok: true, state: table.get(job.id)?.state ?? after.state };
}

interface Plan {
  readonly parents: Parents | null;
  readonly left: readonly Job[];
  readonly taken: readonly Job[];
}

/** What it waits for afterwards. An id that is both added and removed is added. */
function planOf(table: Table, job: Job, ask: NonNullable<JobChanges['dependsOn']>): Plan | Refused {
  const { add = [], remove = [] } = ask;
  const found = findParents(table, { id: job.id, known: job }, add);
  if (isRefusal(found)) return found;
  const left = [...new Set(remove)]
    .filter((id) => !add.includes(id))
    .flatMap((id) => table.get(id) ?? [])
    .filter((parent) => table.edge(parent, job) !== null);
  const open = left.filter((parent) => table.edge(parent, job) === 'open');
  const bad = open.filter(({ state }) => isBad(state));
  const fewer = plus(job.parents, { of: -left.length, open: -open.length, bad: -bad.length });
  return { left, ...joined(table, { ...job, parents: fewer }, found, ruleOf(job, table.settings(job.queue))) };
}
