/** A JobStore over one function that carries calls by name: to a table, a thread, or a server. */
import type { InsightQuery, InsightResultOf } from '../ports/insight.ts';
import type { CallOptions, JobStore } from '../ports/job-store.ts';
import type { CallArgument, CallName, CallResult } from './perform.ts';

export type CallCarrier = <Name extends CallName>(
  name: Name,
  argument: CallArgument<Name>,
  options: CallOptions | undefined,
) => Promise<CallResult<Name>>;

export function jobStoreOver(carry: CallCarrier, subscribe: JobStore['subscribe']): JobStore {
  return {
    add: (jobs, options) => carry('add', jobs, options),
    commit: (ids, options) => carry('commit', ids, options),
    claim: (request, options) => carry('claim', request, options),
    heartbeat: (beats, options) => carry('heartbeat', beats, options),
    settle: (settlements, options) => carry('settle', settlements, options),
    keepSteps: (writes, options) => carry('keepSteps', writes, options),
    notify: (events, options) => carry('notify', events, options),
    cancel: (targets, options) => carry('cancel', targets, options),
    requeue: (requeues, options) => carry('requeue', requeues, options),
    move: (moves, options) => carry('move', moves, options),
    change: (changes, options) => carry('change', changes, options),
    delete: (ids, options) => carry('delete', ids, options),
    find: (ids, options) => carry('find', ids, options),
    history: (id, options) => carry('history', id, options),
    steps: (id, options) => carry('steps', id, options),
    list: (query, options) => carry('list', query, options),
    count: (queues, options) => carry('count', queues, options),
    insight: <Asked extends InsightQuery>(query: Asked, options?: CallOptions) =>
      // The result of a kind is that kind's result; the compiler only sees that it is one of them.
      carry('insight', query, options) as Promise<InsightResultOf<Asked>>,
    keepWorker: (beat, options) => carry('keepWorker', beat, options),
    endWorker: (end, options) => carry('endWorker', end, options),
    workers: (options) => carry('workers', undefined, options),
    maintain: (maintenance, options) => carry('maintain', maintenance, options),
    subscribe,
  };
}
