/** Workers: list them with their jobs, and declare one dead. */
import { object, text } from '../../core/input/check.ts';
import type { WorkerRecord } from '../../core/ports/job-store.ts';
import { returned, workerList } from '../../wire/views.ts';
import { mustBeOk } from '../http/one-result.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';

const emptyBody = object({});

export const workerRoutes: readonly Route[] = [
  route({
    name: 'workers.list',
    method: 'GET',
    path: '/api/workers',
    about: 'Lists workers with their jobs and their last heartbeat.',
    role: 'read',
    answer: workerList,
    handle: async ({ context }) => json({ workers: (await context.store.jobs.workers()).map(shown) }),
  }),
  route({
    name: 'workers.fail',
    method: 'POST',
    path: '/api/workers/{id}/fail',
    about: 'Declares a worker dead: its jobs return to the front of their queues at once.',
    role: 'operate',
    params: { id: text({ max: 1_024 }) },
    body: emptyBody,
    answer: returned,
    handle: async ({ params, context }) => {
      const result = await context.store.jobs.endWorker({ id: params.id, kind: 'fail' });
      return json({ returned: mustBeOk([result]).returned });
    },
  }),
];

function shown({ info, ...worker }: WorkerRecord): unknown {
  return { ...worker, info: JSON.parse(info) as unknown };
}
