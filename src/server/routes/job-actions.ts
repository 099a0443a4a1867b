/** Operations on one job. Each returns the job after the change. */
import { duration, fields, flag, object, oneOf } from '../../core/input/check.ts';
import { eventName, jobId, queueName } from '../../core/job/names.ts';
import type { JobStore, Target, TargetResult } from '../../core/ports/job-store.ts';
import { count } from '../../core/settings/policy-input.ts';
import { copyInput } from '../../wire/job-input.ts';
import { jsonValue } from '../../wire/json-value.ts';
import { added, cancelled, jobView, notified } from '../../wire/views.ts';
import { idempotent } from '../auth/idempotency.ts';
import { mustBeOk } from '../http/one-result.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';
import { duplicateJob } from '../views/duplicate-job.ts';
import { findView } from '../views/job-views.ts';

const params = { id: jobId };
/** With `attempt`, the operation is refused if the job was claimed again since. */
const targetBody = object({ attempt: count });
/** `dependents` decides about jobs that depend on the job; without it, cancelling a job with dependents is refused. */
const cancelBody = object({ attempt: count, dependents: oneOf('cancel', 'leave') });
const requeueBody = object({ attempt: count, queue: queueName, delay: duration(), fresh: flag });
const notifyBody = fields({ name: eventName }, { data: jsonValue });
const moveBody = fields({ queue: queueName }, { attempt: count, steal: flag });
const emptyBody = object({});

export const jobActionRoutes: readonly Route[] = [
  route({
    name: 'jobs.cancel',
    method: 'POST',
    path: '/api/jobs/{id}/cancel',
    about:
      'Cancels a job. A running job is asked to stop, and ends when its worker has stopped it. A job with dependents requires `dependents`: cancel them too, or leave them.',
    role: 'operate',
    params,
    body: cancelBody,
    answer: cancelled,
    handle: async ({ params, body, context }) => {
      const { outcome } = mustBeOk(await context.store.jobs.cancel([{ ...body, id: params.id }]));
      return json({ outcome, job: await findView(context, params.id) });
    },
  }),
  route({
    name: 'jobs.requeue',
    method: 'POST',
    path: '/api/jobs/{id}/requeue',
    about:
      'Requeues an ended job, optionally in another queue or after a delay; `fresh` clears its checkpoint and steps.',
    role: 'operate',
    params,
    body: requeueBody,
    answer: jobView,
    handle: ({ params, body: { delay, ...body }, context }) =>
      act(context, params.id, (jobs) =>
        jobs.requeue([{ ...body, id: params.id, ...(delay !== undefined && { delayMs: delay }) }]),
      ),
  }),
  route({
    name: 'jobs.notify',
    method: 'POST',
    path: '/api/jobs/{id}/notify',
    about:
      'Sends an event to a job. A job that waits for it resumes; any other keeps it for a later wait. The first event of a name counts until the job has read it.',
    role: 'operate',
    params,
    body: notifyBody,
    answer: notified,
    handle: async ({ params, body: { name, data = 'null' }, context }) => {
      const { outcome } = mustBeOk(await context.store.jobs.notify([{ id: params.id, name, data }]));
      return json({ outcome, job: await findView(context, params.id) });
    },
  }),
  route({
    name: 'jobs.move',
    method: 'POST',
    path: '/api/jobs/{id}/move',
    about: 'Moves a job to another queue; a running job requires `steal`.',
    role: 'operate',
    params,
    body: moveBody,
    answer: jobView,
    handle: ({ params, body, context }) => act(context, params.id, (jobs) => jobs.move([{ ...body, id: params.id }])),
  }),
  route({
    name: 'jobs.commit',
    method: 'POST',
    path: '/api/jobs/{id}/commit',
    about: 'Commits a draft: it becomes a waiting job. Idempotent.',
    role: 'submit',
    relay: true,
    params,
    body: emptyBody,
    answer: jobView,
    handle: ({ params, context }) => act(context, params.id, (jobs) => jobs.commit([params.id])),
  }),
  route({
    name: 'jobs.run-now',
    method: 'POST',
    path: '/api/jobs/{id}/run-now',
    about: 'Makes a scheduled job ready now.',
    role: 'operate',
    params,
    body: targetBody,
    answer: jobView,
    handle: ({ params, body, context }) => change(context, { ...body, id: params.id, runAt: context.now() }),
  }),
  route({
    name: 'jobs.pause',
    method: 'POST',
    path: '/api/jobs/{id}/pause',
    about: 'Asks the worker of a running job to pause it.',
    role: 'operate',
    params,
    body: targetBody,
    answer: jobView,
    handle: ({ params, body, context }) => change(context, { ...body, id: params.id, pause: true }),
  }),
  route({
    name: 'jobs.resume',
    method: 'POST',
    path: '/api/jobs/{id}/resume',
    about: 'Asks the worker of a paused job to resume it.',
    role: 'operate',
    params,
    body: targetBody,
    answer: jobView,
    handle: ({ params, body, context }) => change(context, { ...body, id: params.id, pause: false }),
  }),
  route({
    name: 'jobs.duplicate',
    method: 'POST',
    path: '/api/jobs/{id}/duplicate',
    about: 'Adds a copy of a job with the same data, options and attachments; the body overrides them.',
    role: 'submit',
    params,
    body: copyInput,
    answer: added,
    status: 201,
    handle: (call) =>
      idempotent(call, (newId) => duplicateJob(call.context, { ...call.body, from: call.params.id, newId })),
  }),
];

type StoreOperation = (jobs: JobStore) => Promise<readonly TargetResult[]>;

async function act(context: ServerContext, id: string, operation: StoreOperation): Promise<Reply> {
  mustBeOk(await operation(context.store.jobs));
  return json(await findView(context, id));
}

function change(context: ServerContext, changes: Target & { runAt?: number; pause?: boolean }): Promise<Reply> {
  return act(context, changes.id, (jobs) => jobs.change([changes]));
}
