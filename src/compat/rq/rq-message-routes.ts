/** RQ's URLs of messages: create them (at once, or prepared first), read, commit, delete, destroy, clone, run now. */
import type { Job } from '../../core/job/job.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import { dataOf, rqStateOf } from '../../node/queues/rq-view.ts';
import { mustBeOk } from '../../server/http/one-result.ts';
import { refuseRequest } from '../../server/http/problem.ts';
import { json, type Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import type { ServerContext } from '../../server/views/context.ts';
import { duplicateJob } from '../../server/views/duplicate-job.ts';
import { mustBeCallable } from '../../server/views/webhook-addresses.ts';
import { fieldsUnder, parseObject, type RqBody, readRqBody } from './rq-body.ts';
import { jobOfMessage, type Message, readMessage, resendsOf } from './rq-message.ts';
import { rqQueue } from './rq-queues.ts';
import { commitMessage, prepareRelayed, relayOrigin } from './rq-relayed-in.ts';
import { answerForm, backOf, fail, inRqWords, ok, refusal, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const FORM = { body: 'any', limits: { bodyBytes: 1024 * 1024 }, answer: 'text' } as const;
const METHODS = ['commit', 'prep', 'single_que'] as const;
type NewMethod = (typeof METHODS)[number];
const params = { queue: queueName, id: jobId };
const RUN_NOW = 'msg sent to front of run queue';
/** Messages sent by `single_que` to a queue are one, until it starts. */
const SINGLE = { key: 'rq single_que', scope: 'queue', until: 'started', periodMs: 0 } as const;

export function rqMessageRoutes(rq: RqCompat): readonly Route[] {
  return [newMessageRoute(rq), messageRoute(rq), stateRoute(), actRoute(), cloneRoute(rq), runNowRoute()];
}

function newMessageRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.new_message',
    method: 'POST',
    path: '/q/{queue}/new_message',
    about: 'Creates a message, at once or prepared for its attachments. Returns its full id.',
    role: 'submit',
    relay: true,
    params: { queue: queueName },
    ...FORM,
    handle: inRqWords((call) => newMessage(rq, call)),
  });
}

function messageRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.message',
    method: 'GET',
    path: '/q/{queue}/{id}.json',
    about: 'Returns a message.',
    role: 'read',
    params,
    answer: 'text',
    handle: inRqWords(async (call) => json(await rq.message(call.context, await jobIn(call)))),
  });
}

function stateRoute(): Route {
  return route({
    name: 'rq.message.state',
    method: 'GET',
    path: '/q/{queue}/{id}/state.json',
    about: 'Returns the state of a message.',
    role: 'read',
    params,
    answer: 'text',
    handle: inRqWords(async (call) => json([rqStateOf(await jobIn(call))])),
  });
}

function actRoute(): Route {
  return route({
    name: 'rq.message.act',
    method: 'POST',
    path: '/q/{queue}/{id}',
    about: 'Deletes, destroys, commits or runs a message now, by its `_method`.',
    role: 'submit',
    relay: true,
    params,
    ...FORM,
    handle: inRqWords(act),
  });
}

function cloneRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.message.clone',
    method: 'POST',
    path: '/q/{queue}/{id}/clone',
    about: 'Creates a message like one that has ended, with its attachments.',
    role: 'submit',
    params,
    ...FORM,
    handle: inRqWords((call) => clone(rq, call)),
  });
}

function runNowRoute(): Route {
  return route({
    name: 'rq.message.run_now',
    method: 'POST',
    path: '/q/{queue}/{id}/run_now',
    about: 'Makes a waiting message due, before the others.',
    role: 'operate',
    params,
    ...FORM,
    handle: inRqWords(async (call) => {
      const { fields } = await readRqBody(call);
      await runNow(call.context, await jobIn(call));
      return answerForm(fields, ok(RUN_NOW), pathOf(call));
    }),
  });
}

const partsOf = ({ params: given }: Call) => given as { readonly queue: string; readonly id: string };
const queuePath = (call: Call): string => `/q/${partsOf(call).queue}`;
const pathOf = (call: Call): string => `/q/${partsOf(call).queue}/${partsOf(call).id}`;

/** Returns the job of the URL, or throws a 404 problem. A message that moved to another queue is not found. */
export async function jobIn(call: Call): Promise<Job> {
  const { queue, id } = partsOf(call);
  const job = await jobOrNull(call);
  if (job === null) throw refuseRequest('not-found', `cannot find message ${id} in queue ${queue}`);
  return job;
}

export async function jobOrNull({ context, params: given }: Call): Promise<Job | null> {
  const { queue, id } = given as { readonly queue: string; readonly id: string };
  const [job = null] = await context.store.jobs.find([id]);
  return job?.queue === queue ? job : null;
}

async function newMessage(rq: RqCompat, call: Call): Promise<Reply> {
  const { queue } = partsOf(call);
  const body = await readRqBody(call);
  const given = messageIn(body);
  const method = given['_method'] ?? 'commit';
  if (!isNewMethod(method)) return fail('Invalid method param', 400);
  // The role relay adds messages in two phases only: prepare, send the files, commit.
  if (method !== 'prep' && !call.may('submit')) return fail('a relay prepares its messages', 403);
  await rqQueue(rq, call.context, queue);
  if (!('dest' in given)) return refusal('input missing required "dest" parameter');
  const id = await add(call.context, { message: readMessage(given), method, queue });
  const isPage = body.fields['x_format'] === 'html';
  return isPage ? seeOther(backOf(body.fields, `/q/${queue}/${id}`)) : ok(rq.fullId({ queue, id }));
}

const isNewMethod = (value: unknown): value is NewMethod => METHODS.some((each) => each === value);

/** Returns the message of a request, with RQ's `_method` as one of its keys. */
function messageIn({ json: given, fields }: RqBody): Readonly<Record<string, unknown>> {
  if (given !== null) return given;
  return fields['x_format'] === 'html' ? fieldsUnder(fields, 'mesg') : parseObject(fields['mesg'] ?? '', 'mesg');
}

async function add(
  context: ServerContext,
  { message, method, queue }: { message: Message; method: NewMethod; queue: string },
): Promise<string> {
  const { store, newId } = context;
  if (method === 'single_que') {
    const [head] = (await store.jobs.list({ queue, order: 'claim', limit: 1 })).jobs;
    if (head !== undefined) return head.id;
  }
  const job = jobOfMessage(message, { id: newId(), queue, draft: method === 'prep' });
  mustBeCallable(context, job.policy?.hooks);
  const origin = method === 'prep' ? relayOrigin(message) : null;
  if (origin !== null) return prepareRelayed(context, job, origin);
  const added = mustBeOk(await store.jobs.add([{ ...job, ...(method === 'single_que' && { unique: SINGLE }) }]));
  return added.id;
}

/** RQ's texts for a message that does not exist, or is not in the state that the method needs. */
const NOT_FOUND: Readonly<Record<string, string>> = {
  commit: 'cannot find message',
  delete: 'msg not found',
  destroy: 'msg not found',
};

async function act(call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const method = fields['_method'] ?? '';
  if (!(method in NOT_FOUND) && method !== 'run_now') return fail('Invalid method param', 400);
  const job = method === 'run_now' ? await jobIn(call) : await jobOrNull(call);
  const notFound = (): Reply => answerForm(fields, refusal(NOT_FOUND[method] ?? ''), pathOf(call));
  if (job === null) return notFound();
  const { jobs } = call.context.store;
  switch (method) {
    case 'commit':
      if (job.state !== 'draft') return notFound();
      await commitMessage(call.context, job);
      return answerForm(fields, ok('msg commited'), pathOf(call));
    case 'delete':
      mayTouch(call, job);
      mustBeOk(await jobs.delete([job.id]));
      return answerForm(fields, ok('msg deleted'), queuePath(call));
    case 'destroy':
      mayTouch(call, job);
      if (job.state !== 'running') return notFound();
      mustBeOk(await jobs.cancel([{ id: job.id }]));
      return answerForm(fields, ok('msg destroyed'), queuePath(call));
    default:
      mayTouch(call, job);
      await runNow(call.context, job);
      return answerForm(fields, ok(RUN_NOW), pathOf(call));
  }
}

/** Throws unless the caller may change the message: a producer may change drafts, an operator all. */
function mayTouch(call: Call, { state }: Job): void {
  if (!call.may(state === 'draft' ? 'submit' : 'operate'))
    throw refuseRequest('forbidden', 'this needs the role operate');
}

/** Makes a message due before all waiting ones, as RQ does: a second before the smallest due. */
async function runNow({ store, now }: ServerContext, { id, queue }: Job): Promise<void> {
  const [head] = (await store.jobs.list({ queue, order: 'claim', limit: 1 })).jobs;
  const runAt = Math.min(now(), (head?.runAt ?? now()) - 1_000);
  mustBeOk(await store.jobs.change([{ id, runAt, ...(head !== undefined && { priority: head.priority }) }]));
}

async function clone(rq: RqCompat, call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const job = await jobIn(call);
  const state = rqStateOf(job);
  if (!['done', 'err', 'relayed'].includes(state)) return fail(`cannot clone message in ${state} state`);
  const { count: _count, ...message } = dataOf(job) as Message;
  const data = JSON.stringify({ ...message, cloned_from: rq.fullId(job) });
  const copy = { from: job.id, data, maxResends: resendsOf(message), newId: call.context.newId };
  const { body } = await duplicateJob(call.context, copy);
  const { id } = (body as { value: { id: string } }).value;
  return answerForm(fields, ok(rq.fullId({ queue: job.queue, id })), queuePath(call));
}
