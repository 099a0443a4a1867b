/**
 * The port's calls by name, over a table: memory runs them directly, SQLite in its thread.
 *
 * Invariant: a call either changes nothing and throws, or takes effect completely; a table that can fail half-way must
 * wrap `perform` in a savepoint.
 */
import type { Moment } from '../lifecycle/clock.ts';
import type { JobStore } from '../ports/job-store.ts';
import { type Refused, refuse } from '../ports/refusal.ts';
import type { Table } from '../ports/table.ts';
import { add, commit } from './add.ts';
import { heartbeat, settle } from './attempt.ts';
import { change } from './change.ts';
import { claim } from './claim.ts';
import { insight } from './insight.ts';
import { maintain } from './maintain.ts';
import { cancel, move, remove, requeue } from './operate.ts';
import { count, list } from './read.ts';
import { keepSteps, notify, stepsOf } from './steps/keep-steps.ts';
import { endWorker, keepWorker, workers } from './workers.ts';

export type CallName = Exclude<keyof JobStore, 'subscribe'>;
/** The argument of a call without its options, and its result. */
export type CallArgument<Name extends CallName> = Parameters<JobStore[Name]>[0];
export type CallResult<Name extends CallName> = Awaited<ReturnType<JobStore[Name]>>;

type Performer<Name extends CallName> = (
  table: Table,
  argument: CallArgument<Name>,
  moment: Moment,
) => CallResult<Name>;

const PERFORMERS: { readonly [Name in CallName]: Performer<Name> } = {
  add,
  commit,
  claim,
  heartbeat,
  settle,
  keepSteps,
  notify,
  cancel,
  requeue,
  move,
  change,
  delete: remove,
  find: (table, ids) => ids.map((id) => table.get(id) ?? null),
  history: (table, id) => table.rows(id),
  steps: stepsOf,
  list,
  count,
  insight,
  keepWorker,
  endWorker,
  workers: (table, _options, moment) => workers(table, moment),
  maintain,
};

export function perform<Name extends CallName>(
  table: Table,
  name: Name,
  argument: CallArgument<Name>,
  moment: Moment,
): CallResult<Name> {
  const closed = REFUSED_WHILE_CLOSED.has(name) ? table.closed() : null;
  if (closed !== null) return refuseAll(argument, closed) as CallResult<Name>;
  return PERFORMERS[name](table, argument, moment);
}

/** Calls that a store under migration refuses (ports/migration.ts); `add` and `claim` check for themselves. */
export const CALLS_REFUSED_WHILE_CLOSED = [
  'commit',
  'cancel',
  'requeue',
  'move',
  'change',
  'delete',
  'notify',
] as const;
const REFUSED_WHILE_CLOSED: ReadonlySet<CallName> = new Set(CALLS_REFUSED_WHILE_CLOSED);

function refuseAll(argument: unknown, closed: string): readonly Refused[] {
  return (argument as readonly unknown[]).map(() => refuse('store-moving', closed));
}

const READ_ONLY: ReadonlySet<CallName> = new Set(['find', 'history', 'steps', 'list', 'count', 'insight', 'workers']);

/** Returns whether a call writes nothing: it needs no transaction and no fsync. */
export function isReadOnly(name: CallName): boolean {
  return READ_ONLY.has(name);
}
