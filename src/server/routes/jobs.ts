/** Jobs: add, get, list, count, change and delete. */
import { newJobOf } from '../../core/input/add-options.ts';
import { flag, listOf, object, oneOf, text, time } from '../../core/input/check.ts';
import { listJobs } from '../../core/job/filter-pages.ts';
import { displayName, jobId, queueName, tag } from '../../core/job/names.ts';
import { readTraceparent, withTraceparent } from '../../core/job/traceparent.ts';
import type { AddResult, NewJob } from '../../core/ports/job-store.ts';
import { count, priority } from '../../core/settings/policy-input.ts';
import type { JobInput } from '../../wire/job-input.ts';
import { jobInputs, oneOrMany } from '../../wire/job-input.ts';
import { jsonValue } from '../../wire/json-value.ts';
import { JOB_FILTER, jobIds } from '../../wire/port-checks.ts';
import { stepView } from '../../wire/steps/step-view.ts';
import {
  added,
  jobCounts,
  jobGraphView,
  jobHistory,
  jobPage,
  jobSteps,
  jobView,
  matching,
  orRefusedItem,
} from '../../wire/views.ts';
import { idempotent } from '../auth/idempotency.ts';
import { mustBeDrafts } from '../auth/rights.ts';
import { mustBeOk } from '../http/one-result.ts';
import { limitOf, pageLimit, queryTime } from '../http/query-checks.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { countMatching } from '../views/bulk.ts';
import type { ServerContext } from '../views/context.ts';
import { jobGraph } from '../views/job-graph.ts';
import { findJob, findView, viewsOf } from '../views/job-views.ts';
import { mustBeCallable } from '../views/webhook-addresses.ts';

const id = { id: jobId };
const GRAPH_JOBS = 100;

/** The filters of job queries, in URLs and in bulk calls. */
export const jobFilter = {
  ...JOB_FILTER,
  text: text({ max: 256 }),
  since: queryTime,
  before: queryTime,
};

const listQuery = { ...jobFilter, order: oneOf('newest', 'claim'), after: text({ max: 1_024 }), limit: pageLimit };

const jobChanges = object({
  attempt: count,
  priority,
  tags: listOf(tag, 100),
  runAt: time,
  name: displayName,
  data: jsonValue,
  pause: flag,
  dependsOn: object({ add: jobIds, remove: jobIds }),
});

export const jobRoutes: readonly Route[] = [
  route({
    name: 'jobs.list',
    method: 'GET',
    path: '/api/jobs',
    about:
      'Lists jobs, newest first; `next` is the `after` of the next page. `text` searches id, name, tags, failure and data; a short page may then have a `next`.',
    role: 'read',
    query: listQuery,
    answer: jobPage,
    handle: async ({ query, context }) => {
      const { order = 'newest', ...rest } = query;
      const page = await listJobs(context.store.jobs, { ...rest, order, limit: limitOf(query) });
      return json({ jobs: await viewsOf(context, page.jobs), next: page.next });
    },
  }),
  route({
    name: 'jobs.add',
    method: 'POST',
    path: '/api/jobs',
    about:
      'Adds a job, or a list of jobs. Adding an existing id has no effect; an Idempotency-Key makes any add repeatable. A header traceparent (W3C) is kept for jobs without one.',
    role: 'submit',
    body: jobInputs,
    answer: oneOrMany(orRefusedItem(added), 1_000),
    status: 201,
    relay: true,
    handle: (call) => {
      if (!call.may('submit')) mustBeDrafts([call.body].flat());
      const traceparent = readTraceparent(call.request.headers['traceparent']);
      return idempotent(call, (newId) => addJobs(call.context, call.body, { newId, traceparent }));
    },
  }),
  route({
    name: 'jobs.count',
    method: 'GET',
    path: '/api/jobs/count',
    about: 'Counts the jobs of each queue by state.',
    role: 'read',
    query: { queue: queueName },
    answer: jobCounts,
    handle: async ({ query, context }) =>
      json({ queues: await context.store.jobs.count(query.queue === undefined ? undefined : [query.queue]) }),
  }),
  route({
    name: 'jobs.matching',
    method: 'GET',
    path: '/api/jobs/matching',
    about: 'Counts the jobs that a bulk call with this query would select, and those with dependents.',
    role: 'read',
    query: jobFilter,
    answer: matching,
    handle: async ({ query, context }) => json(await countMatching(context.store.jobs, query)),
  }),
  route({
    name: 'jobs.find',
    method: 'GET',
    path: '/api/jobs/{id}',
    about:
      'Returns a job, with its label and the reason for it. `steps` has the number and bytes of its steps, and `suspension` what a suspended job waits for: a time, an event, or neither for other jobs.',
    role: 'read',
    params: id,
    answer: jobView,
    handle: async ({ params, context }) => json(await findView(context, params.id)),
  }),
  route({
    name: 'jobs.change',
    method: 'PATCH',
    path: '/api/jobs/{id}',
    about:
      'Changes priority, tags, run time, name, data or dependencies of a waiting job, or asks a running job to pause.',
    role: 'operate',
    params: id,
    body: jobChanges,
    answer: jobView,
    handle: async ({ params, body, context }) => {
      mustBeOk(await context.store.jobs.change([{ ...body, id: params.id }]));
      return json(await findView(context, params.id));
    },
  }),
  route({
    name: 'jobs.delete',
    method: 'DELETE',
    path: '/api/jobs/{id}',
    about: 'Deletes a job that is not running.',
    role: 'operate',
    params: id,
    answer: 'none',
    status: 204,
    handle: async ({ params, context }) => {
      mustBeOk(await context.store.jobs.delete([params.id]));
      return { status: 204, body: { kind: 'none' } };
    },
  }),
  route({
    name: 'jobs.graph',
    method: 'GET',
    path: '/api/jobs/{id}/graph',
    about:
      'Returns the dependency graph of a job: its direct and indirect parents and dependents, at most `limit`. `isWhole` is false if there are more.',
    role: 'read',
    params: id,
    query: { limit: pageLimit },
    answer: jobGraphView,
    handle: async ({ params, query, context }) => json(await jobGraph(context, params.id, query.limit ?? GRAPH_JOBS)),
  }),
  route({
    name: 'jobs.history',
    method: 'GET',
    path: '/api/jobs/{id}/history',
    about: 'Returns the history of a job, oldest first.',
    role: 'read',
    params: id,
    answer: jobHistory,
    handle: async ({ params, context }) => {
      await findJob(context, params.id);
      return json({ history: await context.store.jobs.history(params.id) });
    },
  }),
  route({
    name: 'jobs.steps',
    method: 'GET',
    path: '/api/jobs/{id}/steps',
    about:
      'Returns the steps of a job, in the order in which they were first kept: kind (`run`, `sleep`, `event`, `children`), status, times, attempts, result and failure. A step that is `waiting` until a time or for an event has the end of the wait in `until`; null is no end. A sleep stays `waiting`.',
    role: 'read',
    params: id,
    answer: jobSteps,
    handle: async ({ params, context }) => {
      await findJob(context, params.id);
      return json({ steps: (await context.store.jobs.steps(params.id)).map(stepView) });
    },
  }),
];

/** A refusal of a single job ends the request; in a list, each job has its own result. */
async function addJobs(
  context: ServerContext,
  body: JobInput | readonly JobInput[],
  { newId, traceparent }: { newId: () => string; traceparent: string | undefined },
): Promise<Reply> {
  const inputs = Array.isArray(body) ? (body as readonly JobInput[]) : [body as JobInput];
  for (const { hooks } of inputs) mustBeCallable(context, hooks);
  const results = await context.store.jobs.add(
    inputs.map((input) => withTraceparent(toJob(input, newId), traceparent)),
  );
  if (Array.isArray(body)) return json(results.map(itemOf), 201);
  const { ok: _ok, ...result } = mustBeOk(results);
  return json(result, result.outcome === 'added' ? 201 : 200);
}

function toJob({ queue, data = 'null', ...options }: JobInput, newId: () => string): NewJob {
  return newJobOf({ queue, data, newId }, options);
}

function itemOf(result: AddResult): unknown {
  if (!result.ok) return result;
  const { ok: _ok, ...rest } = result;
  return rest;
}
