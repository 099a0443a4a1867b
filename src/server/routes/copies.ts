/** Second copies of files: a node offers a copy, and the other node fetches it. Only nodes call these routes. */
import { fields, flag, orNull, text } from '../../core/input/check.ts';
import { jobId } from '../../core/job/names.ts';
import { refuseRequest } from '../http/problem.ts';
import { queryInteger } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { attemptNumber } from '../views/log-checks.ts';
import { nodeOf } from '../views/node-of.ts';

const anyText = text({ max: Number.MAX_SAFE_INTEGER });

export const copyRoutes: readonly Route[] = [
  route({
    name: 'copies.offer',
    method: 'POST',
    path: '/api/jobs/{id}/copies',
    about:
      'Offers a copy of the files of a job, and of one of its attempts; this node fetches them. Called by other nodes.',
    role: 'admin',
    nodes: true,
    params: { id: jobId },
    query: { attempt: queryInteger(1, Number.MAX_SAFE_INTEGER) },
    answer: fields({ copied: flag }),
    handle: async ({ params: { id }, query, principal, context }) => {
      const { copies } = nodeOf(context);
      if (principal.node === undefined) throw refuseRequest('wrong-state', 'only another node can offer a copy');
      const problem = await copies.take({ id, attempt: query.attempt ?? null }, principal.node);
      if (problem !== null) throw refuseRequest('node-away', `cannot copy the files of job ${id}: ${problem}`);
      return json({ copied: true });
    },
  }),
  route({
    name: 'attempts.notes',
    method: 'GET',
    path: '/api/jobs/{id}/attempts/{attempt}/notes',
    about: 'Returns the record, log index and usage of an attempt, for the node that copies it.',
    role: 'admin',
    nodes: true,
    params: { id: jobId, attempt: attemptNumber },
    answer: fields({ record: anyText, index: orNull(anyText), usage: orNull(anyText) }),
    handle: async ({ params: { id, attempt }, context }) => {
      const notes = attempt === 'latest' ? null : nodeOf(context).copies.notes(id, attempt);
      if (notes === null) throw refuseRequest('not-found', `attempt ${attempt} of job ${id} is not on this node`);
      return json(notes);
    },
  }),
];
