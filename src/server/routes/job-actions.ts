/** What is done to one job: each action answers the job as it is afterwards. */
import { duration, fields, flag, object, oneOf } from '../../core/input/check.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import type { JobStore, Target, TargetResult } from '../../core/ports/job-store.ts';
import { count } from '../../core/settings/policy-input.ts';
import { copyInput } from '../../wire/job-input.ts';
import { added, cancelled, jobView } from '../../wire/views.ts';
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
/** With `attempt`, refused when the job has been claimed again since. */
const targetBody = object({ attempt: count });
/** `dependents`: what becomes of the jobs that wait for it; without a word about them the cancel is refused. */
const cancelBody = object({ attempt: count, dependents: oneOf('cancel', 'leave') });
const requeueBody = object({ attempt: count, queue: queueName, delay: duration() });
const moveBody = fields({ queue: queueName }, { attempt: count, steal: flag });
const nothing = object({});

export const jobActionRoutes: readonly Route[] = [
  route({
    name: 'jobs.cancel',
    method: 'POST',
    path: '/api/jobs/{id}/cancel',
    about:
      'Ends a job for good. A running one is asked to stop, and ends when its worker has stopped it. One that others wait for needs `dependents`: cancel them too, or leave them.',
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
    about: 'Makes an ended job wait again, in another queue or after a delay if told so.',
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
    name: 'jobs.move',
    method: 'POST',
    path: '/api/jobs/{id}/move',
    about: 'Puts a job into another queue; a running one only with `steal`.',
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
    about: 'Makes a draft into a waiting job. Can be repeated.',
    role: 'submit',
    relay: true,
    params,
    body: nothing,
    answer: jobView,
    handle: ({ params, context }) => act(context, params.id, (jobs) => jobs.commit([params.id])),
  }),
  route({
    name: 'jobs.run-now',
    method: 'POST',
    path: '/api/jobs/{id}/run-now',
    about: 'Lets a scheduled job be claimed at once.',
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
    about: 'Asks the worker of a running job to let it stand still.',
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
    about: 'Asks the worker of a paused job to go on.',
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
    about: 'Makes a new job with the same data, options and attachments, but for what is given here.',
    role: 'submit',
    params,
    body: copyInput,
    answer: added,
    status: 201,
    handle: (call) =>
      idempotent(call, (newId) => duplicateJob(call.context, { ...call.body, from: call.params.id, newId })),
  }),
];

type Act = (jobs: JobStore) => Promise<readonly TargetResult[]>;

async function act(context: ServerContext, id: string, work: Act): Promise<Reply> {
  mustBeOk(await work(context.store.jobs));
  return json(await findView(context, id));
}

function change(context: ServerContext, changes: Target & { runAt?: number; pause?: boolean }): Promise<Reply> {
  return act(context, changes.id, (jobs) => jobs.change([changes]));
}
