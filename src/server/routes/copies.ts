/** Second copies, from node to node: one offers what it has, the other fetches it. Nobody else has any use for these. */
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
      'Another node offers a copy of the files of a job, and of what one of its attempts left: it is fetched from there.',
    role: 'admin',
    nodes: true,
    params: { id: jobId },
    query: { attempt: queryInteger(1, Number.MAX_SAFE_INTEGER) },
    answer: fields({ copied: flag }),
    handle: async ({ params: { id }, query, who, context }) => {
      const { copies } = nodeOf(context);
      if (who.node === undefined) throw refuseRequest('wrong-state', 'only a node that has it can offer a copy');
      const why = await copies.take({ id, attempt: query.attempt ?? null }, who.node);
      if (why !== null) throw refuseRequest('node-away', `no copy was made of job ${id}: ${why}`);
      return json({ copied: true });
    },
  }),
  route({
    name: 'attempts.notes',
    method: 'GET',
    path: '/api/jobs/{id}/attempts/{attempt}/notes',
    about: 'What a node noted of an attempt beside its log, for the node that keeps a copy.',
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
