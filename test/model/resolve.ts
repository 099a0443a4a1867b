/** Turns a step into its present call: tokens, attempts and times are known only while the program runs. */

import { isEnded, JOB_STATES, type JobState } from '../../src/core/job/job.ts';
import type { ThrottleSettings } from '../../src/core/limits/bucket.ts';
import type { CallArgument, CallName } from '../../src/core/operations/perform.ts';
import type { ClaimRequest, JobQuery } from '../../src/core/ports/job-store.ts';
import type { QueueSettings } from '../../src/core/settings/settings.ts';
import type { Outcome } from '../contract/workbench.ts';
import type { Model } from './model.ts';
import { type Family, FUTURE_TOKEN, QUEUES, type Seen, type Step, type Which, type Who } from './program.ts';

export type PortCall = {
  [Name in CallName]: { readonly name: Name; readonly argument: CallArgument<Name> };
}[CallName];
export type Call =
  | PortCall
  | { readonly name: 'throttle'; readonly throttle: string; readonly limits: ThrottleSettings | null }
  | { readonly name: 'settings'; readonly queue: string; readonly settings: Partial<QueueSettings> };

/** The states of jobs that suit each call; a step mostly picks one of these. */
const FITTING: Readonly<Record<string, readonly (JobState | 'none')[]>> = {
  add: ['none'],
  commit: ['draft'],
  heartbeat: ['running'],
  settle: ['running'],
  keepSteps: ['running'],
  notify: ['waiting', 'running'],
  cancel: ['draft', 'waiting', 'running'],
  requeue: ['done', 'failed', 'cancelled', 'running', 'waiting'],
  move: ['draft', 'waiting', 'running'],
  change: JOB_STATES,
  delete: ['draft', 'waiting', 'done', 'failed', 'cancelled'],
};

/**
 * A preparation for a step that would otherwise have no effect: a settlement needs a running job, a claim a waiting
 * one. It makes programs deep rather than long.
 */
export function prepare(step: Step, model: Model, freshRequest: () => string): Call | null {
  const isThere = (...states: readonly JobState[]): boolean => model.jobs.some(({ state }) => states.includes(state));
  if (step.call === 'settle' || step.call === 'heartbeat' || step.call === 'keepSteps') {
    if (step.items[0]?.who.of !== 'fitting' || isThere('running') || !isThere('waiting')) return null;
    const request = { worker: 'v', queues: QUEUES, limit: 2, leaseMs: 10_000, requestId: freshRequest() };
    return { name: 'claim', argument: request };
  }
  if (step.call !== 'claim' || step.again !== false || isThere('waiting')) return null;
  const free = model.ids.find((id) => model.get(id) === undefined);
  if (free !== undefined) return { name: 'add', argument: [{ id: free, queue: 'x', data: '1' }] };
  const ended = model.jobs.find(({ state }) => isEnded(state));
  return ended === undefined ? null : { name: 'requeue', argument: [{ id: ended.id }] };
}

export function resolve(step: Step, model: Model, freshRequest: () => string): Call {
  switch (step.call) {
    case 'claim':
      return { name: 'claim', argument: claimOf(step, model, freshRequest) };
    case 'keepWorker': {
      const { worker: id, kind, leaseMs } = step;
      return { name: 'keepWorker', argument: { id, kind, leaseMs, host: 'host', pid: 1, queues: ['x'], info: '{}' } };
    }
    case 'endWorker':
      return { name: 'endWorker', argument: { id: step.worker, kind: step.kind } };
    case 'maintain':
      return { name: 'maintain', argument: { limit: step.limit } };
    case 'throttle':
      return { name: 'throttle', throttle: step.name, limits: step.limits };
    case 'settings':
      return { name: 'settings', queue: step.queue, settings: step.settings };
    case 'list':
      return { name: 'list', argument: queryOf(step, model.now) };
    default:
      return { name: step.call, argument: step.items.map((item) => itemOf(step.call, item, model)) } as Call;
  }
}

function queryOf({ query, sinceIn, beforeIn }: Step & { call: 'list' }, now: number): JobQuery {
  return {
    ...query,
    ...(sinceIn === undefined ? {} : { since: now + sinceIn }),
    ...(beforeIn === undefined ? {} : { before: now + beforeIn }),
  };
}

interface AnyItem {
  readonly who: Who;
  readonly which?: Which;
  readonly seen?: Seen;
  readonly runIn?: number;
  readonly outcome?: Outcome;
  readonly family?: Family;
}

/** One item of a bulk call; only the id if the call takes ids. */
function itemOf(call: string, item: AnyItem, model: Model): unknown {
  const { who, which, seen, runIn, outcome, family, ...rest } = item;
  const id = idOf(model, who, FITTING[call] ?? []);
  if (call === 'commit' || call === 'delete') return id;
  return {
    ...rest,
    ...(family === undefined
      ? absolute(model, outcome)
      : withFamily(call, familyOf(model, family), absolute(model, outcome))),
    id,
    ...(which === undefined ? {} : { token: tokenOf(model, id, which) }),
    ...(seen === undefined ? {} : attemptOf(model, id, seen)),
    ...(runIn === undefined ? {} : { runAt: model.now + runIn }),
  };
}

interface Ids {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
}

function familyOf(model: Model, { add, remove }: Family): Ids {
  const ids = (whos: readonly Who[]) => whos.map((who) => idOf(model, who, JOB_STATES));
  return { ...(add === undefined ? {} : { add: ids(add) }), ...(remove === undefined ? {} : { remove: ids(remove) }) };
}

/** A program has the wake time of a suspended job relative to now. */
function absolute(model: Model, outcome: Outcome | undefined): Outcome | undefined {
  if (outcome?.kind !== 'suspend' || outcome.until === null) return outcome;
  return { ...outcome, until: model.now + outcome.until };
}

/** Puts the dependencies where each call expects them. */
function withFamily(call: string, ids: Ids, outcome: Outcome | undefined): object {
  if (call === 'change') return { dependsOn: ids };
  if (call === 'add') return { dependsOn: ids.add };
  if (outcome?.kind === 'suspend') return { ...outcome, children: ids.add };
  const next = outcome?.kind === 'complete' ? outcome.next : undefined;
  return next === undefined ? { ...outcome } : { ...outcome, next: { ...next, dependsOn: ids.add } };
}

function idOf(model: Model, { of, nth }: Who, fitting: readonly string[]): string {
  const fits = model.ids.filter((id) => fitting.includes(model.get(id)?.state ?? 'none'));
  const among = of === 'fitting' && fits.length > 0 ? fits : model.ids;
  return among[nth % among.length] as string;
}

function claimOf(step: Step & { call: 'claim' }, model: Model, freshRequest: () => string): ClaimRequest {
  const { call: _call, again, ...asked } = step;
  const remembered = again === false ? [] : model.claims.filter(({ worker }) => worker === step.worker);
  const repeated = remembered.at(again === 'latest' ? -1 : 0);
  return { ...asked, requestId: repeated?.requestId ?? freshRequest() };
}

function tokenOf(model: Model, id: string, which: Which): number {
  const own = model.tokens.filter((each) => each.id === id);
  const [other] = model.tokens.filter((each) => each.id !== id).slice(-1);
  switch (which) {
    case 'latest':
      return own.at(-1)?.token ?? FUTURE_TOKEN;
    case 'older':
      return own.at(-2)?.token ?? FUTURE_TOKEN;
    case 'other':
      return other?.token ?? FUTURE_TOKEN;
    case 'future':
      return FUTURE_TOKEN;
  }
}

function attemptOf(model: Model, id: string, seen: Seen): { attempt?: number } {
  const attempt = model.get(id)?.attempt ?? 0;
  if (seen === 'any') return {};
  return { attempt: seen === 'present' ? attempt : attempt - 1 };
}
