/**
 * For workers in any language: claim, heartbeat, settle. One attempt as an object is answered by itself, and a no is a
 * problem; a list is answered by a list.
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
const beaten = fields({ ok: flag, until: ms, cancelAsked: flag, pauseAsked: flag });
const settled = fields({ ok: flag, state });

export const workRoutes: readonly Route[] = [
  route({
    name: 'claim',
    method: 'POST',
    path: '/api/claim',
    about:
      'Takes waiting jobs under a lease; each has its token in `lease.token`. With `wait` it answers when there is work, or after that time (at most 60 s). Repeated with the same `requestId` it answers the same jobs.',
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
      'Renews a lease, with progress, a checkpoint or the process that began; answers whether a cancel or pause is asked for.',
    role: 'operate',
    audit: false,
    body: heartbeatInput,
    answer: oneOrMany(orRefusedItem(beaten), 1_000),
    handle: async ({ body, context }) => reply(body, await context.store.jobs.heartbeat(listed(body).map(toBeat))),
  }),
  route({
    name: 'settle',
    method: 'POST',
    path: '/api/settle',
    about: 'Says how an attempt ended. A failure without a delay waits as its queue says. Can be repeated.',
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

function toBeat({ lease, ...beat }: Heartbeat & { lease?: number }): Heartbeat {
  return { ...beat, ...(lease !== undefined && { leaseMs: lease }) };
}

function reply(body: unknown, results: readonly ({ readonly ok: true } | Refused)[]): Reply {
  return json(Array.isArray(body) ? results : mustBeOk(results));
}
