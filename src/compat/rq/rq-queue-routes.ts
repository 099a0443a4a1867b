/** RQ's addresses of queues: lists and counts for machines, making and ending queues, pausing them. */
import { text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import type { QueueCounts } from '../../core/ports/job-store.ts';
import type { QueueState } from '../../core/settings/settings.ts';
import { homeAt } from '../../node/home.ts';
import { removeRqQueue } from '../../node/queues/rq-queue-files.ts';
import { dataOf, RQ_STATES, type RqState, statusOf } from '../../node/queues/rq-view.ts';
import { queryInteger } from '../../server/http/query-checks.ts';
import { json, text as plain, type Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { deleteQueue } from '../../server/views/queue-changes.ts';
import type { QueueView } from '../../wire/views.ts';
import { readRqBody } from './rq-body.ts';
import { configOf } from './rq-config-view.ts';
import { listState, newestDone } from './rq-lists.ts';
import type { RqOperation } from './rq-markers.ts';
import { ownQueues, rqQueue, rqQueues } from './rq-queues.ts';
import { backOf, fail, inRqWords, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const BODY = { body: 'any', limits: { bodyBytes: 1024 * 1024 } } as const;
const params = { queue: queueName };
const OPERATIONS: readonly RqOperation[] = ['pause', 'resume', 'down', 'up'];
const STATUS: Readonly<Record<QueueState, string>> = { up: 'UP', paused: 'PAUSE', down: 'DOWN', deleted: 'DOWN' };

// Long because it is a table of addresses.
export function rqQueueRoutes(door: RqCompat): readonly Route[] {
  return [
    route({
      name: 'rq.queues.text',
      method: 'GET',
      path: '/q.txt',
      about: 'The addresses of all queues, a line each.',
      role: 'read',
      answer: 'text',
      handle: async ({ context }) =>
        plain((await rqQueues(door, context)).map(({ name }) => `/q/${name}.txt`).join('\n')),
    }),
    route({
      name: 'rq.queues',
      method: 'GET',
      path: '/q.json',
      about: 'All queues with their status and counts.',
      role: 'read',
      answer: 'text',
      handle: async (call) =>
        json({
          ...about(door),
          environment: door.environment,
          version: call.context.version,
          queues: (await listQueues(door, call)).map((each) => summary(door, each)),
        }),
    }),
    route({
      name: 'rq.queue.text',
      method: 'GET',
      path: '/q/{queue}.txt',
      about: 'Status and counts of a queue, for monitors.',
      role: 'read',
      params,
      answer: 'text',
      handle: inRqWords(async (call) => plain(asText(door, await readQueue(door, call)))),
    }),
    route({
      name: 'rq.queue',
      method: 'GET',
      path: '/q/{queue}.json',
      about: 'A queue with its messages, by state.',
      role: 'read',
      params,
      answer: 'text',
      handle: inRqWords((call) => wholeQueue(door, call)),
    }),
    route({
      name: 'rq.queue.done',
      method: 'GET',
      path: '/q/{queue}/done.json',
      about: 'The ids of what was done last.',
      role: 'read',
      params,
      query: { limit: queryInteger(0, 1_000) },
      answer: 'text',
      handle: inRqWords(async (call) => {
        await rqQueue(door, call.context, queueOf(call));
        return json(await newestDone(call.context, queueOf(call), (call.query as { limit?: number }).limit ?? 10));
      }),
    }),
    ...['config.json', 'config'].map((file) =>
      route({
        name: `rq.queue.${file}`,
        method: 'GET',
        path: `/q/{queue}/${file}`,
        about: 'The settings of a queue in RQ’s names.',
        role: 'read',
        params,
        answer: 'text',
        // The file may just have been changed: RQ reads it at SIGHUP, and answers afterwards.
        handle: inRqWords(async (call) => {
          await call.context.node?.reload();
          return json(await configOf(call.context, await rqQueue(door, call.context, queueOf(call))));
        }),
      }),
    ),
    route({
      name: 'rq.queue.adminoper',
      method: 'POST',
      path: '/q/{queue}/adminoper',
      about: 'Pauses, resumes, takes down or brings up a queue.',
      role: 'operate',
      params,
      ...BODY,
      answer: 'text',
      status: 303,
      handle: inRqWords((call) => adminOperation(door, call)),
    }),
    route({
      name: 'rq.queue.restart',
      method: 'POST',
      path: '/q/{queue}/restart',
      about: 'Looks at the queue’s file and settings anew. No script is touched.',
      role: 'operate',
      params,
      ...BODY,
      answer: 'text',
      status: 303,
      handle: inRqWords(async (call) => {
        const { fields } = await readRqBody(call);
        await rqQueue(door, call.context, queueOf(call));
        await call.context.node?.reload();
        return seeOther(backOf(fields, `/q/${queueOf(call)}`), `${queueOf(call)}\n`);
      }),
    }),
    route({
      name: 'rq.queues.delete',
      method: 'POST',
      path: '/delete_queue',
      about: 'Ends a queue with all that is in it, but never while a script runs.',
      role: 'operate',
      ...BODY,
      answer: 'text',
      status: 303,
      handle: inRqWords((call) => removeQueue(door, call)),
    }),
    route({
      name: 'rq.search',
      method: 'GET',
      path: '/search',
      onlyWith: 'name',
      about: 'Messages of a queue whose fields contain a text, as `query[field]=text`.',
      role: 'read',
      query: {
        name: queueName,
        exact: text({ max: 5 }),
      },
      keyedQuery: 'query',
      answer: 'text',
      handle: inRqWords((call) => search(door, call)),
    }),
  ];
}

const queueOf = ({ params: given }: Call): string => (given as { queue: string }).queue;

async function adminOperation(door: RqCompat, call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const operation = OPERATIONS.find(
    (each) => each in fields || fields['oper'] === each || fields['adminoper'] === each,
  );
  if (operation === undefined) return fail(`adminoper is one of ${OPERATIONS.join(', ')}`);
  const queue = queueOf(call);
  await rqQueue(door, call.context, queue);
  await door.markers.operate(queue, operation);
  return seeOther(backOf(fields, `/q/${queue}`), `${queue}\n`);
}

/** Applies marker files that an operator has just created or removed, before it reads the queue. */
async function readQueue(door: RqCompat, call: Call): Promise<QueueView> {
  await door.markers.sync();
  return rqQueue(door, call.context, queueOf(call));
}

/** RQ's custom queues come first, then its own. */
async function listQueues(door: RqCompat, call: Call): Promise<readonly QueueView[]> {
  await door.markers.sync();
  const queues = await rqQueues(door, call.context);
  const own = ownQueues(door);
  return [...queues.filter(({ name }) => !own.includes(name)), ...queues.filter(({ name }) => own.includes(name))];
}

async function removeQueue(door: RqCompat, call: Call): Promise<Reply> {
  const name = (await readRqBody(call)).fields['queue_name'] ?? '';
  const open = door.asOpen(call);
  const { node } = call.context;
  const found = (await rqQueues(door, call.context)).find((queue) => queue.name === name);
  if (found === undefined) return fail('no such queue', 404);
  if (found.counts.running > 0)
    return fail(`${found.counts.running} messages of ${name} are running: destroy them first`);
  // A queue with a file cannot be deleted: RQ's directory is renamed first, and back if the queue stays.
  const restore = open.may('admin') ? await removeRqQueue(homeAt(door.root), name) : null;
  await node?.reload();
  try {
    await deleteQueue(open, name, true);
  } catch (error) {
    await restore?.();
    await node?.reload();
    throw error;
  }
  return seeOther('/', 'started deleting queue\n');
}

function about(door: RqCompat) {
  const now = Date.now();
  return {
    status: 'OPERATIONAL',
    ping: 'pong',
    pid: process.pid,
    uptime: Math.floor((now - door.startedAt) / 1_000),
    time: Math.floor(now / 1_000),
  };
}

/** A script that cannot be run is RQ's SCRIPTERROR; what a person turned off goes before it. */
export function statusWord({ settings: { state }, problem }: QueueView): string {
  return state === 'up' && problem !== null ? 'SCRIPTERROR' : STATUS[state];
}

export function countsOf({
  draft,
  waiting,
  running,
  done,
  failed,
  cancelled,
  relayed,
}: QueueCounts): Record<RqState, number> {
  return { prep: draft, que: waiting, run: running, err: failed + cancelled, done: done - relayed, relayed };
}

function summary(door: RqCompat, queue: QueueView) {
  const { ping, pid, uptime } = about(door);
  return { name: queue.name, status: statusWord(queue), ping, pid, uptime, counts: countsOf(queue.counts) };
}

function asText(door: RqCompat, queue: QueueView): string {
  const status = `status: ${statusWord(queue)}\n`;
  if (queue.settings.state === 'down') return status;
  const { prep, que, run, done, err, relayed } = countsOf(queue.counts);
  return `${status}uptime: ${about(door).uptime}\n\nprep: ${prep}\nque: ${que}\nrun: ${run}\n\ndone: ${done}\nerr: ${err}\nrelayed: ${relayed}\n`;
}

async function wholeQueue(door: RqCompat, { context, ...call }: Call): Promise<Reply> {
  const queue = await readQueue(door, { context, ...call });
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
      ...(state !== 'prep' && state !== 'que' && { status: statusOf(job, door.url) }),
      ...(state === 'relayed' && { new_msg: job.forwardedTo }),
    })),
  ]);
  return json({ ...about(door), status: statusWord(queue), ...sizes, messages: Object.fromEntries(messages) });
}

async function search(door: RqCompat, { context, query }: Call): Promise<Reply> {
  const given = query as Readonly<Record<string, string | undefined>>;
  const queue = given['name'] ?? '';
  const isExact = given['exact'] !== undefined;
  const wanted = Object.entries(given).flatMap(([name, value]) => {
    const [, field] = /^query\[(.+)\]$/.exec(name) ?? [];
    return field === undefined ? [] : [[field, value ?? ''] as const];
  });
  await rqQueue(door, context, queue);
  const found: object[] = [];
  for (const state of RQ_STATES) {
    for (const job of await listState(context, queue, state)) {
      const message = (await door.message(context, job)) as Readonly<Record<string, unknown>>;
      if (wanted.every(([field, value]) => fits(message[field], value, isExact))) found.push(message);
    }
  }
  return json(found);
}

function fits(value: unknown, wanted: string, isExact: boolean): boolean {
  if (value === undefined || value === null) return false;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return isExact ? text === wanted : text.includes(wanted);
}
