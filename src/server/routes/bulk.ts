/** Bulk operations on jobs, by ids or by a query, and on failure groups. */
import type { Check, Report } from '../../core/input/check.ts';
import { duration, fields, listOf, object, oneOf, text } from '../../core/input/check.ts';
import { described, schemaOf } from '../../core/input/json-schema.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import { bulkResult, groups } from '../../wire/views.ts';
import { queryFlag } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { BulkAction } from '../views/bulk.ts';
import { bulk } from '../views/bulk.ts';
import { jobFilter } from './jobs.ts';

const MAX_IDS = 1_000;
const filter = object(jobFilter);
const shape = { ids: listOf(jobId, MAX_IDS), query: filter };
const deleteBody = idsOrQuery(object(shape));
const cancelBody = idsOrQuery(object({ ...shape, dependents: oneOf('cancel', 'leave') }));
const requeueBody = idsOrQuery(object({ ...shape, queue: queueName, delay: duration() }));
const groupBody = fields({ queue: queueName, group: text({ max: 1_024 }) });

/** Requires either ids or a query with at least one filter: an empty request must not select all jobs. */
function idsOrQuery<T extends { ids?: unknown; query?: object }>(check: Check<T>): Check<T> {
  return described(schemaOf(check), (value: unknown, report: Report, path: string): T => {
    const body = check(value, report, path);
    if (body === undefined) return body;
    if ((body.ids === undefined) === (body.query === undefined)) report('ids', 'or query is required, but not both');
    else if (body.query !== undefined && Object.keys(body.query).length === 0)
      report('query', 'must have at least one filter');
    return body;
  });
}

const cancelRoute = route({
  name: 'jobs.bulk-cancel',
  method: 'POST',
  path: '/api/jobs/cancel',
  about:
    'Cancels jobs by ids or by a query; running jobs are asked to stop. Jobs that others depend on require `dependents`.',
  role: 'operate',
  body: cancelBody,
  answer: bulkResult,
  handle: async ({ body, context }) => {
    const { dependents } = body;
    return json(
      await bulk(context.store.jobs, body, { kind: 'cancel', ...(dependents !== undefined && { dependents }) }),
    );
  },
});

const deleteRoute = route({
  name: 'jobs.bulk-delete',
  method: 'POST',
  path: '/api/jobs/delete',
  about: 'Deletes jobs by ids or by a query, except running jobs.',
  role: 'operate',
  body: deleteBody,
  answer: bulkResult,
  handle: async ({ body, context }) => json(await bulk(context.store.jobs, body, { kind: 'delete' })),
});

const requeueRoute = route({
  name: 'jobs.bulk-requeue',
  method: 'POST',
  path: '/api/jobs/requeue',
  about: 'Requeues ended jobs by ids or by a query.',
  role: 'operate',
  body: requeueBody,
  answer: bulkResult,
  handle: async ({ body, context }) => {
    const { queue, delay } = body;
    const action: BulkAction = {
      kind: 'requeue',
      ...(queue && { queue }),
      ...(delay !== undefined && { delayMs: delay }),
    };
    return json(await bulk(context.store.jobs, body, action));
  },
});

const failureQuery = { queue: queueName, past: queryFlag };
const failureRoutes = (['requeue', 'delete'] as const).map((kind) =>
  route({
    name: `failures.${kind}`,
    method: 'POST',
    path: `/api/failures/${kind}`,
    about: kind === 'requeue' ? 'Requeues every job of a failure group.' : 'Deletes every job of a failure group.',
    role: 'operate',
    body: groupBody,
    answer: bulkResult,
    handle: async ({ body, context }) =>
      json(await bulk(context.store.jobs, { query: { ...body, state: 'failed' } }, { kind })),
  }),
);

export const bulkRoutes: readonly Route[] = [
  cancelRoute,
  deleteRoute,
  requeueRoute,
  route({
    name: 'failures.list',
    method: 'GET',
    path: '/api/failures',
    about:
      'Lists failure groups: count, first and last time, a sample job, failures per day. `past=true` includes groups without failed jobs.',
    role: 'read',
    query: failureQuery,
    answer: groups,
    handle: async ({ query, context }) =>
      json({ groups: await context.store.jobs.insight({ kind: 'failures', ...query }) }),
  }),
  ...failureRoutes,
];
