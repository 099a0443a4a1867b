/** RQ's addresses of messages: making them (at once, or prepared first), looking at them, and what is done to one. */
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
import { backOf, fail, inRqWords, ok, refusal, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const BODY = { body: 'any', limits: { bodyBytes: 1024 * 1024 } } as const;
const METHODS = ['commit', 'prep', 'single_que'] as const;
type NewMethod = (typeof METHODS)[number];
const params = { queue: queueName, id: jobId };
/** Everybody who sends by `single_que` waits for the same one. */
const SINGLE = { key: 'rq single_que', scope: 'queue', until: 'started', periodMs: 0 } as const;

// Long because it is a table of addresses.
export function rqMessageRoutes(door: RqCompat): readonly Route[] {
  return [
    route({
      name: 'rq.new_message',
      method: 'POST',
      path: '/q/{queue}/new_message',
      about: 'Makes a message, at once or prepared for its attachments; answers its full id.',
      role: 'submit',
      relay: true,
      params: { queue: queueName },
      ...BODY,
      answer: 'text',
      handle: inRqWords((call) => newMessage(door, call)),
    }),
    route({
      name: 'rq.message',
      method: 'GET',
      path: '/q/{queue}/{id}.json',
      about: 'A message whole.',
      role: 'read',
      params,
      answer: 'text',
      handle: inRqWords(async (call) => json(await door.message(call.context, await jobIn(call)))),
    }),
    route({
      name: 'rq.message.state',
      method: 'GET',
      path: '/q/{queue}/{id}/state.json',
      about: 'The state of a message.',
      role: 'read',
      params,
      answer: 'text',
      handle: inRqWords(async (call) => json([rqStateOf(await jobIn(call))])),
    }),
    route({
      name: 'rq.message.act',
      method: 'POST',
      path: '/q/{queue}/{id}',
      about: 'Deletes, destroys, commits or runs a message now, by its `_method`.',
      role: 'submit',
      relay: true,
      params,
      ...BODY,
      answer: 'text',
      handle: inRqWords((call) => act(door, call)),
    }),
    route({
      name: 'rq.message.clone',
      method: 'POST',
      path: '/q/{queue}/{id}/clone',
      about: 'A new message like one that has ended, with its attachments.',
      role: 'submit',
      params,
      ...BODY,
      answer: 'text',
      handle: inRqWords((call) => clone(door, call)),
    }),
    route({
      name: 'rq.message.run_now',
      method: 'POST',
      path: '/q/{queue}/{id}/run_now',
      about: 'Makes a waiting message due, before the others.',
      role: 'operate',
      params,
      ...BODY,
      answer: 'text',
      handle: inRqWords(async (call) => {
        const form = await readRqBody(call);
        await runNow(call.context, await jobIn(call));
        return form.fields['x_format'] === 'json' ? ok('msg sent to front of run queue') : seeOther(addressOf(call));
      }),
    }),
  ];
}

const partsOf = ({ params: given }: Call) => given as { readonly queue: string; readonly id: string };
const addressOf = (call: Call): string => `/q/${partsOf(call).queue}/${partsOf(call).id}`;

/** A message is known under its queue; what has moved on is elsewhere. */
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

async function newMessage(door: RqCompat, call: Call): Promise<Reply> {
  const { queue } = partsOf(call);
  const body = await readRqBody(call);
  const given = messageIn(body);
  const method = given['_method'] ?? 'commit';
  if (!isNewMethod(method)) return fail('Invalid method param', 400);
  // A relay hands over whole messages: it prepares them, sends their files and commits them.
  if (method !== 'prep' && !call.may('submit')) return fail('a relay prepares its messages', 403);
  await rqQueue(door, call.context, queue);
  if (!('dest' in given)) return refusal('input missing required "dest" parameter');
  const id = await add(call.context, { message: readMessage(given), method, queue });
  const isPage = body.fields['x_format'] === 'html';
  return isPage ? seeOther(backOf(body.fields, `/q/${queue}/${id}`)) : ok(door.fullId({ queue, id }));
}

const isNewMethod = (value: unknown): value is NewMethod => METHODS.some((each) => each === value);

/** The whole of it is the message, with RQ's `_method` as one of its keys. */
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

/** What RQ says of a message that it does not find, or not in the state that the method needs. */
const NOT_FOUND: Readonly<Record<string, string>> = {
  commit: 'cannot find message',
  delete: 'msg not found',
  destroy: 'msg not found',
};

async function act(door: RqCompat, call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const method = fields['_method'] ?? '';
  if (!(method in NOT_FOUND) && method !== 'run_now') return fail('Invalid method param', 400);
  const job = method === 'run_now' ? await jobIn(call) : await jobOrNull(call);
  if (job === null) return refusal(NOT_FOUND[method] ?? '');
  const { jobs } = call.context.store;
  switch (method) {
    case 'commit':
      if (job.state !== 'draft') return refusal('cannot find message');
      await commitMessage(call.context, job);
      return answer(door, call, { fields, words: 'msg commited' });
    case 'delete':
      mayTouch(call, job);
      mustBeOk(await jobs.delete([job.id]));
      return answer(door, call, { fields, words: 'msg deleted' });
    case 'destroy':
      mayTouch(call, job);
      if (job.state !== 'running') return refusal('msg not found');
      mustBeOk(await jobs.cancel([{ id: job.id }]));
      return answer(door, call, { fields, words: 'msg destroyed' });
    default:
      mayTouch(call, job);
      await runNow(call.context, job);
      return answer(door, call, { fields, words: 'msg sent to front of run queue' });
  }
}

function answer(door: RqCompat, call: Call, { fields, words }: { fields: RqBody['fields']; words: string }): Reply {
  return fields['x_format'] === 'html'
    ? seeOther(backOf(fields, new URL(`q/${partsOf(call).queue}`, door.url).pathname))
    : ok(words);
}

/** A producer may take back what it prepared; the rest is the operators'. */
function mayTouch(call: Call, { state }: Job): void {
  if (!call.may(state === 'draft' ? 'submit' : 'operate'))
    throw refuseRequest('forbidden', 'this needs the role operate');
}

/** Before everything else that waits, as RQ does it: its due goes before the smallest. */
async function runNow({ store, now }: ServerContext, { id, queue }: Job): Promise<void> {
  const [head] = (await store.jobs.list({ queue, order: 'claim', limit: 1 })).jobs;
  const runAt = Math.min(now(), (head?.runAt ?? now()) - 1_000);
  mustBeOk(await store.jobs.change([{ id, runAt, ...(head !== undefined && { priority: head.priority }) }]));
}

async function clone(door: RqCompat, call: Call): Promise<Reply> {
  const { fields } = await readRqBody(call);
  const job = await jobIn(call);
  const state = rqStateOf(job);
  if (!['done', 'err', 'relayed'].includes(state)) return fail(`cannot clone message in ${state} state`);
  const { count: _count, ...message } = dataOf(job) as Message;
  const data = JSON.stringify({ ...message, cloned_from: door.fullId(job) });
  const copy = { from: job.id, data, maxResends: resendsOf(message), newId: call.context.newId };
  const { body } = await duplicateJob(call.context, copy);
  const { id } = (body as { value: { id: string } }).value;
  return fields['x_format'] === 'html' ? seeOther(`/q/${job.queue}/${id}`) : ok(door.fullId({ queue: job.queue, id }));
}
