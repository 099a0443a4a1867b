/** Queues: their settings and counts, and turning them off and on. Naming what a queue executes is for admins. */
import { object, orNull, text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import type { SettableState } from '../../core/settings/settings.ts';
import { settingsInput } from '../../core/settings/settings-input.ts';
import { newQueueInput } from '../../wire/queue-input.ts';
import { queueList, queueView } from '../../wire/views.ts';
import { idempotent } from '../auth/idempotency.ts';
import { queryFlag } from '../http/query-checks.ts';
import { json } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { changeQueue, createQueue, deleteQueue } from '../views/queue-changes.ts';
import { allQueues, oneQueue } from '../views/queue-views.ts';

const params = { queue: queueName };
const noteBody = object({ note: orNull(text({ max: 1_000 })) });
const deleteQuery = { jobs: queryFlag };

const STATES: Readonly<Record<string, readonly [state: SettableState, about: string]>> = {
  pause: ['paused', 'Accepts jobs and starts none.'],
  resume: ['up', 'Starts jobs again.'],
  down: ['down', 'Refuses new jobs too, with status 503.'],
  up: ['up', 'Takes and starts jobs again.'],
};

const stateRoutes = Object.entries(STATES).map(([verb, [state, about]]) =>
  route({
    name: `queues.${verb}`,
    method: 'POST',
    path: `/api/queues/{queue}/${verb}`,
    about: `${about} Running jobs are not touched.`,
    role: 'operate',
    params,
    body: noteBody,
    answer: queueView,
    handle: async (call) => {
      await oneQueue(call.context, call.params.queue);
      await changeQueue(call, call.params.queue, { state, note: call.body.note ?? null });
      return json(await oneQueue(call.context, call.params.queue));
    },
  }),
);

export const queueRoutes: readonly Route[] = [
  route({
    name: 'queues.list',
    method: 'GET',
    path: '/api/queues',
    about: 'Every queue with its settings, its counts, and what keeps it from being worked.',
    role: 'read',
    answer: queueList,
    handle: async ({ context }) => json({ queues: await allQueues(context) }),
  }),
  route({
    name: 'queues.create',
    method: 'POST',
    path: '/api/queues',
    about: 'Makes a queue with the settings that are given; the others have their defaults.',
    role: 'operate',
    body: newQueueInput,
    answer: queueView,
    status: 201,
    handle: (call) =>
      idempotent(call, async () => {
        const { name, ...settings } = call.body;
        await createQueue(call, name, settings);
        return json(await oneQueue(call.context, name), 201);
      }),
  }),
  route({
    name: 'queues.find',
    method: 'GET',
    path: '/api/queues/{queue}',
    about: 'One queue.',
    role: 'read',
    params,
    answer: queueView,
    handle: async ({ params, context }) => json(await oneQueue(context, params.queue)),
  }),
  route({
    name: 'queues.change',
    method: 'PATCH',
    path: '/api/queues/{queue}',
    about: 'Changes the settings that are given and leaves the others. Takes effect at once, everywhere.',
    role: 'operate',
    params,
    body: settingsInput,
    answer: queueView,
    handle: async (call) => {
      await oneQueue(call.context, call.params.queue);
      await changeQueue(call, call.params.queue, call.body);
      return json(await oneQueue(call.context, call.params.queue));
    },
  }),
  route({
    name: 'queues.delete',
    method: 'DELETE',
    path: '/api/queues/{queue}',
    about: 'Forgets a queue that has no jobs; with `jobs=true` its jobs too, but never while one runs.',
    role: 'operate',
    params,
    query: deleteQuery,
    answer: 'none',
    status: 204,
    handle: async (call) => {
      await deleteQueue(call, call.params.queue, call.query.jobs ?? false);
      return { status: 204, body: { kind: 'none' } };
    },
  }),
  ...stateRoutes,
];
