/** Queues: settings, counts, states. Changing which code a queue runs requires the role admin. */
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
  pause: ['paused', 'Pauses a queue: it accepts jobs but starts none.'],
  resume: ['up', 'Resumes a queue.'],
  down: ['down', 'Disables a queue: it starts no jobs and refuses new ones with status 503.'],
  up: ['up', 'Enables a queue.'],
};

const stateRoutes = Object.entries(STATES).map(([verb, [state, about]]) =>
  route({
    name: `queues.${verb}`,
    method: 'POST',
    path: `/api/queues/{queue}/${verb}`,
    about: `${about} Running jobs are not affected.`,
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
    about: 'Lists all queues with their settings, counts and problems.',
    role: 'read',
    answer: queueList,
    handle: async ({ context }) => json({ queues: await allQueues(context) }),
  }),
  route({
    name: 'queues.create',
    method: 'POST',
    path: '/api/queues',
    about: 'Creates a queue. Settings that are not given have their defaults.',
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
    about: 'Returns a queue.',
    role: 'read',
    params,
    answer: queueView,
    handle: async ({ params, context }) => json(await oneQueue(context, params.queue)),
  }),
  route({
    name: 'queues.change',
    method: 'PATCH',
    path: '/api/queues/{queue}',
    about: 'Changes the given settings of a queue. Takes effect at once on all nodes.',
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
    about: 'Deletes a queue without jobs; with `jobs=true` also its jobs, unless one is running.',
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
