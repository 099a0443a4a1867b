/** RQ's addresses of queues: lists and counts for machines, making and ending queues, pausing them. */
import { text } from '../../core/input/check.ts';
import { queueName } from '../../core/job/names.ts';
import type { QueueCounts } from '../../core/ports/job-store.ts';
import type { QueueState, SettableState } from '../../core/settings/settings.ts';
import { dataOf, RQ_STATES, type RqState, statusOf } from '../../node/queues/rq-view.ts';
import { queryInteger } from '../../server/http/query-checks.ts';
import { json, text as plain, type Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { changeQueue, deleteQueue } from '../../server/views/queue-changes.ts';
import { allQueues, oneQueue } from '../../server/views/queue-views.ts';
import type { QueueView } from '../../wire/views.ts';
import { readRqBody } from './rq-body.ts';
import { listState, newestDone } from './rq-lists.ts';
import { backOf, fail, inRqWords, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const BODY = { body: 'any', limits: { bodyBytes: 1024 * 1024 } } as const;
const params = { queue: queueName };
const OPERATIONS: Readonly<Record<string, SettableState>> = { pause: 'paused', resume: 'up', down: 'down', up: 'up' };
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
      handle: async ({ context }) => plain((await allQueues(context)).map(({ name }) => `/q/${name}.txt\n`).join('')),
    }),
    route({
      name: 'rq.queues',
      method: 'GET',
      path: '/q.json',
      about: 'All queues with their status and counts.',
      role: 'read',
      answer: 'text',
      handle: async ({ context }) =>
        json({
          ...about(door),
          environment: door.environment,
          version: context.version,
          queues: (await allQueues(context)).map((each) => summary(door, each)),
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
      handle: inRqWords(async (call) => plain(asText(door, await oneQueue(call.context, queueOf(call))))),
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
      query: { limit: queryInteger(1, 1_000) },
      answer: 'text',
      handle: inRqWords(async (call) => {
        await oneQueue(call.context, queueOf(call));
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
        handle: inRqWords(async (call) => json(configOf(await oneQueue(call.context, queueOf(call))))),
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
      handle: inRqWords(adminOperation),
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
        await oneQueue(call.context, queueOf(call));
        await call.context.node?.reload();
        return seeOther(backOf(fields, `/q/${queueOf(call)}`), `${queueOf(call)} restarted\n`);
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
      handle: inRqWords(async (call) => {
        const name = (await readRqBody(call)).fields['queue_name'] ?? '';
        await deleteQueue(door.asOpen(call), name, true);
        return seeOther('/', `queue ${name} deleted\n`);
      }),
    }),
    route({
      name: 'rq.search',
      method: 'GET',
      path: '/search',
      onlyWith: 'name',
      about: 'Messages of a queue whose parameters hold a text.',
      role: 'read',
      query: {
        name: queueName,
        exact: text({ max: 5 }),
        'query[param1]': text({ max: 4_096 }),
        'query[param2]': text({ max: 4_096 }),
        'query[param3]': text({ max: 4_096 }),
        'query[param4]': text({ max: 4_096 }),
      },
      answer: 'text',
      handle: inRqWords((call) => search(door, call)),
    }),
  ];
}

const queueOf = ({ params: given }: Call): string => (given as { queue: string }).queue;

async function adminOperation(call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const word = Object.keys(OPERATIONS).find(
    (each) => each in fields || fields['oper'] === each || fields['adminoper'] === each,
  );
  const state = OPERATIONS[word ?? ''];
  if (word === undefined || state === undefined)
    return fail(`adminoper is one of ${Object.keys(OPERATIONS).join(', ')}`);
  await oneQueue(call.context, queueOf(call));
  await changeQueue(call, queueOf(call), { state });
  return seeOther(backOf(fields, `/q/${queueOf(call)}`), `${queueOf(call)} ${STATUS[state]}\n`);
}

function about(door: RqCompat) {
  const now = Date.now();
  return {
    status: 'UP',
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
  const queue = await oneQueue(context, queueOf({ context, ...call }));
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
      ...(state !== 'prep' && state !== 'que' && { status: statusOf(job) }),
      ...(state === 'relayed' && { new_msg: job.forwardedTo }),
    })),
  ]);
  return json({ ...about(door), status: statusWord(queue), ...sizes, messages: Object.fromEntries(messages) });
}

function configOf({ name, settings }: QueueView) {
  return {
    name,
    script: settings.script,
    num_workers: String(settings.concurrency),
    exec_prefix: settings.execPrefix.join(' '),
    env_vars: Object.fromEntries(settings.env.map((variable) => [variable, ''])),
    coalesce_params: parametersOf(settings.coalesce?.by),
    blocking_params: settings.keys?.limit === 1 ? parametersOf(settings.keys.by) : [],
  };
}

function parametersOf(fields: readonly string[] = []): readonly number[] {
  return fields.filter((field) => /^param[1-4]$/.test(field)).map((field) => Number(field.at(-1)));
}

async function search(door: RqCompat, { context, query }: Call): Promise<Reply> {
  const given = query as Readonly<Record<string, string | undefined>>;
  const isExact = given['exact'] === 'true';
  const wanted = [1, 2, 3, 4].flatMap((number) => {
    const value = given[`query[param${number}]`];
    return value === undefined ? [] : [[`param${number}`, value] as const];
  });
  await oneQueue(context, given['name'] ?? '');
  const found = [];
  for (const state of RQ_STATES) {
    for (const job of await listState(context, given['name'] ?? '', state)) {
      const data = dataOf(job);
      const fits = wanted.every(([name, value]) =>
        isExact ? data[name] === value : textOf(data[name]).includes(value),
      );
      if (fits) found.push(await door.message(context, job));
    }
  }
  return json(found);
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? ''));
