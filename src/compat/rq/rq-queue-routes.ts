/** RQ's URLs of queues: lists and counts for programs, settings and search. */
import { text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import { dataOf, RQ_STATES, statusOf } from '../../node/queues/rq-view.ts';
import { queryInteger } from '../../server/http/query-checks.ts';
import { json, text as plain, type Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import type { QueueView } from '../../wire/views.ts';
import { configOf } from './rq-config-view.ts';
import { listState, listStates, newestDone } from './rq-lists.ts';
import { countsOf, managerFields, statusWord, summaryOf, textOf } from './rq-queue-views.ts';
import { ownQueues, rqQueue, rqQueues } from './rq-queues.ts';
import { inRqWords } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const READ = { method: 'GET', role: 'read', answer: 'text' } as const;
const params = { queue: queueName };

export function rqQueueRoutes(rq: RqCompat): readonly Route[] {
  return [
    queuesTextRoute(rq),
    queuesRoute(rq),
    queueTextRoute(rq),
    queueRoute(rq),
    doneRoute(rq),
    configRoute(rq, 'config.json'),
    configRoute(rq, 'config'),
    searchRoute(rq),
  ];
}

function queuesTextRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queues.text',
    path: '/q.txt',
    about: 'Lists the paths of all queues, one in a line.',
    ...READ,
    handle: async ({ context }) => plain((await rqQueues(rq, context)).map(({ name }) => `/q/${name}.txt`).join('\n')),
  });
}

function queuesRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queues',
    path: '/q.json',
    about: 'Lists all queues with their status and counts.',
    ...READ,
    handle: async (call) =>
      json({
        ...managerFields(rq),
        environment: rq.environment,
        version: call.context.version,
        queues: (await listQueues(rq, call)).map((each) => summaryOf(rq, each)),
      }),
  });
}

function queueTextRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queue.text',
    path: '/q/{queue}.txt',
    about: 'Returns the status and counts of a queue, for monitors.',
    params,
    ...READ,
    handle: inRqWords(async (call) => plain(textOf(rq, await readQueue(rq, call)))),
  });
}

function queueRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queue',
    path: '/q/{queue}.json',
    about: 'Returns a queue with its messages, by state.',
    params,
    ...READ,
    handle: inRqWords((call) => wholeQueue(rq, call)),
  });
}

function doneRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.queue.done',
    path: '/q/{queue}/done.json',
    about: 'Lists the ids of the messages that were done last.',
    params,
    query: { limit: queryInteger(0, 1_000) },
    ...READ,
    handle: inRqWords(async (call) => {
      await rqQueue(rq, call.context, queueOf(call));
      return json(await newestDone(call.context, queueOf(call), (call.query as { limit?: number }).limit ?? 10));
    }),
  });
}

function configRoute(rq: RqCompat, file: 'config.json' | 'config'): Route {
  return route({
    name: `rq.queue.${file}`,
    path: `/q/{queue}/${file}`,
    about: 'Returns the settings of a queue in RQ’s names.',
    params,
    ...READ,
    // The file may just have been changed: RQ reads it at SIGHUP, and answers afterwards.
    handle: inRqWords(async (call) => {
      await call.context.node?.reload();
      return json(await configOf(call.context, await rqQueue(rq, call.context, queueOf(call))));
    }),
  });
}

function searchRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.search',
    path: '/search',
    onlyWith: 'name',
    about: 'Lists messages of a queue whose fields contain a text, as `query[field]=text`.',
    query: { name: queueName, exact: text({ max: 5 }) },
    keyedQuery: 'query',
    ...READ,
    handle: inRqWords((call) => search(rq, call)),
  });
}

const queueOf = ({ params: given }: Call): string => (given as { queue: string }).queue;

/** Applies marker files that an operator has just created or removed, before it reads the queue. */
async function readQueue(rq: RqCompat, call: Call): Promise<QueueView> {
  await rq.markers.sync();
  return rqQueue(rq, call.context, queueOf(call));
}

/** RQ's custom queues come first, then its own. */
async function listQueues(rq: RqCompat, call: Call): Promise<readonly QueueView[]> {
  await rq.markers.sync();
  const queues = await rqQueues(rq, call.context);
  const own = ownQueues(rq);
  return [...queues.filter(({ name }) => !own.includes(name)), ...queues.filter(({ name }) => own.includes(name))];
}

async function wholeQueue(rq: RqCompat, { context, ...call }: Call): Promise<Reply> {
  const queue = await readQueue(rq, { context, ...call });
  if (queue.settings.state === 'down') return json({ status: 'DOWN' });
  const counts = countsOf(queue.counts);
  const sizes = Object.fromEntries(RQ_STATES.map((state) => [`${state}_size`, counts[state]]));
  const lists = await Promise.all(
    RQ_STATES.map(async (state) => [state, await listState(context, queue.name, state)] as const),
  );
  const messages = lists.map(([state, jobs]) => [
    state,
    jobs.map((job) => ({
      msg_id: job.id,
      ...(state !== 'prep' && { dest: dataOf(job)['dest'] ?? job.queue }),
      ...(state === 'que' && { due: Math.floor(job.runAt / 1_000) }),
      ...(state !== 'prep' && state !== 'que' && { status: statusOf(job, rq.url) }),
      ...(state === 'relayed' && { new_msg: job.forwardedTo }),
    })),
  ]);
  return json({ ...managerFields(rq), status: statusWord(queue), ...sizes, messages: Object.fromEntries(messages) });
}

async function search(rq: RqCompat, { context, query }: Call): Promise<Reply> {
  const given = query as Readonly<Record<string, string | undefined>>;
  const queue = given['name'] ?? '';
  const isExact = given['exact'] !== undefined;
  const wanted = Object.entries(given).flatMap(([name, value]) => {
    const [, field] = /^query\[(.+)\]$/.exec(name) ?? [];
    return field === undefined ? [] : [[field, value ?? ''] as const];
  });
  await rqQueue(rq, context, queue);
  const found: object[] = [];
  for (const job of await listStates(context, queue)) {
    const message = (await rq.message(context, job)) as Readonly<Record<string, unknown>>;
    if (wanted.every(([field, value]) => fits(message[field], value, isExact))) found.push(message);
  }
  return json(found);
}

function fits(value: unknown, wanted: string, isExact: boolean): boolean {
  if (value === undefined || value === null) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return isExact ? text === wanted : text.includes(wanted);
}
