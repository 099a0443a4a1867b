/**
 * For workers in any language: claim, heartbeat, settle. A single object gets a single result, and its refusal is a
 * problem; a list gets a list of results.
 */
import { fields, flag, listOf, orNull } from '../../../core/input/check.ts';
import type { Heartbeat } from '../../../core/ports/job-store.ts';
import type { Refused } from '../../../core/ports/refusal.ts';
import { oneOrMany } from '../../../wire/job-input.ts';
import { state } from '../../../wire/port-answers.ts';
import { ms } from '../../../wire/port-checks.ts';
import { jobView, orRefusedItem } from '../../../wire/views.ts';
import type { SettlementInput } from '../../../wire/work-input.ts';
import { claimInput, heartbeatInput, settleInput } from '../../../wire/work-input.ts';
import { mustBeOk } from '../../http/one-result.ts';
import type { Reply } from '../../http/reply.ts';
import { json } from '../../http/reply.ts';
import type { Route } from '../../http/route.ts';
import { route } from '../../http/route.ts';
import { claimWaiting } from '../../streams/claim-waiting.ts';
import { viewsOf } from '../../views/job-views.ts';
import { toSettlements } from '../../views/to-settlements.ts';

const claimed = fields({ jobs: listOf(jobView, 500), now: ms, nextAt: orNull(ms) });
const renewed = fields({ ok: flag, until: ms, cancelAsked: flag, pauseAsked: flag });
const settled = fields({ ok: flag, state });

export const workRoutes: readonly Route[] = [
  route({
    name: 'claim',
    method: 'POST',
    path: '/api/claim',
    about:
      'Claims waiting jobs under a lease; the token is in `lease.token`. With `wait`, it waits for work up to that time (at most 60 s). A repeat with one of the last two `requestId`s of the worker returns the same jobs.',
    role: 'operate',
    audit: false,
    body: claimInput,
    answer: claimed,
    handle: async ({ body, context, signal }) => {
      const { worker, queues, limit = 1, lease, requestId = context.newId(), wait = 0 } = body;
      const request = { worker, queues, limit, requestId, ...(lease !== undefined && { leaseMs: lease }) };
      const { jobs, now, nextAt } = await claimWaiting(context.store.jobs, request, { waitMs: wait, signal });
      return json({ jobs: await viewsOf(context, jobs), now, nextAt });
    },
  }),
  route({
    name: 'heartbeat',
    method: 'POST',
    path: '/api/heartbeat',
    about:
      'Renews a lease, optionally with progress, a checkpoint or the pid; returns whether a cancel or pause is requested.',
    role: 'operate',
    audit: false,
    body: heartbeatInput,
    answer: oneOrMany(orRefusedItem(renewed), 1_000),
    handle: async ({ body, context }) => reply(body, await context.store.jobs.heartbeat(listed(body).map(toHeartbeat))),
  }),
  route({
    name: 'settle',
    method: 'POST',
    path: '/api/settle',
    about: "Settles an attempt with its outcome. A failure without a delay uses the queue's backoff. Idempotent.",
    role: 'operate',
    audit: false,
    body: settleInput,
    answer: oneOrMany(orRefusedItem(settled), 1_000),
    handle: async ({ body, context }) => {
      const settlements = await toSettlements(context, listed<SettlementInput>(body));
      return reply(body, await context.store.jobs.settle(settlements));
    },
  }),
];

function listed<T>(body: T | readonly T[]): readonly T[] {
  return Array.isArray(body) ? (body as readonly T[]) : [body as T];
}

function toHeartbeat({ lease, ...heartbeat }: Heartbeat & { lease?: number }): Heartbeat {
  return { ...heartbeat, ...(lease !== undefined && { leaseMs: lease }) };
}

function reply(body: unknown, results: readonly ({ readonly ok: true } | Refused)[]): Reply {
  return json(Array.isArray(body) ? results : mustBeOk(results));
}
