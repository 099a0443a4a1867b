/** RQ's URLs of a message's files: attach (answered with the MD5), delete, read with Range, and the log. */
import { Readable } from 'node:stream';
import { text } from '../../core/input/check.ts';
import { jobId, queueName } from '../../core/job/names.ts';
import { RELAY_QUEUE } from '../../core/job/relay-request.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import type { UploadRefused } from '../../files/attachments/file-upload.ts';
import { attachedName } from '../../files/attachments/file-upload.ts';
import { nameProblem } from '../../files/outputs/attachment-name.ts';
import { rqNameProblem } from '../../node/relay/rq-form.ts';
import { refuseRequest } from '../../server/http/problem.ts';
import { json, text as plain, type Reply } from '../../server/http/reply.ts';
import type { Call, Route } from '../../server/http/route.ts';
import { route } from '../../server/http/route.ts';
import { forwardLog } from '../../server/views/from-other-node.ts';
import { nodeOf } from '../../server/views/node-of.ts';
import { sendAttachment } from '../../server/views/send-attachment.ts';
import { sendLog } from '../../server/views/send-log.ts';
import { gather } from './multipart.ts';
import { filesOf, isMultipart, readRqBody } from './rq-body.ts';
import { jobIn, jobOrNull } from './rq-message-routes.ts';
import { relayLog } from './rq-relay-log.ts';
import { answerForm, fail, inRqWords, ok, refusal, seeOther } from './rq-replies.ts';
import type { RqCompat } from './rq-routes.ts';

const MAX_BYTES = 10 * 1024 ** 3;
const params = { queue: queueName, id: jobId };
const LOG = 'stdio.log';

export function rqAttachmentRoutes(rq: RqCompat): readonly Route[] {
  return [attachRoute(), removeRoute(), fileRoute(), logRoute(rq), followRoute('tailviewlog'), followRoute('tailview')];
}

function attachRoute(): Route {
  return route({
    name: 'rq.attach',
    method: 'POST',
    path: '/q/{queue}/{id}/attach/new',
    about: 'Attaches a file (`filedata` of a form) to a prepared message. Returns its MD5.',
    role: 'submit',
    relay: true,
    params,
    body: 'any',
    limits: { bodyBytes: MAX_BYTES },
    answer: 'text',
    handle: inRqWords(attach),
  });
}

function removeRoute(): Route {
  return route({
    name: 'rq.attach.delete',
    method: 'POST',
    path: '/q/{queue}/{id}/attach/{name}',
    about: 'Removes a file from a prepared message, by `_method` delete.',
    role: 'submit',
    params: { ...params, name: text({ max: 4_096 }) },
    body: 'any',
    limits: { bodyBytes: 1024 * 1024 },
    answer: 'text',
    handle: inRqWords(removeFile),
  });
}

function fileRoute(): Route {
  return route({
    name: 'rq.attach.get',
    method: 'GET',
    path: '/q/{queue}/{id}/attach/{name}',
    about: 'Returns a file of a message, or a Range of it.',
    role: 'read',
    params: { ...params, name: attachedName },
    answer: 'bytes',
    handle: inRqWords(readFile),
  });
}

function logRoute(rq: RqCompat): Route {
  return route({
    name: 'rq.log',
    method: 'GET',
    path: '/q/{queue}/{id}/log/{file}',
    about: 'Returns the output of the script (stdio.log), or a Range of it.',
    role: 'read',
    params: { ...params, file: text({ max: 255 }) },
    answer: 'bytes',
    handle: inRqWords((call) => readLog(rq, call)),
  });
}

function followRoute(view: 'tailviewlog' | 'tailview'): Route {
  return route({
    name: `rq.${view}`,
    method: 'GET',
    path: `/q/{queue}/{id}/${view}/{file}`,
    about: 'Redirects to the page of the message, which follows the log.',
    role: 'open',
    params: { ...params, file: text({ max: 255 }) },
    answer: 'none',
    status: 303,
    handle: ({ params: { queue, id } }) => seeOther(`/q/${queue}/${id}`),
  });
}

/**
 * Fields may come before the file and after it. All of the request is read before the answer, as in RQ: its relay reads
 * no answer while it sends, and must learn that a message is gone.
 */
async function attach(call: Call): Promise<Reply> {
  if (!isMultipart(call)) return fail('missing filedata', 404);
  const job = await jobOrNull(call);
  const isOpen = job?.state === 'draft';
  let format = '';
  let reply: Reply | null = null;
  for await (const { name, file, bytes } of filesOf(call)) {
    if (name === 'x_format') format = (await gather(bytes, 64)).toString('utf8');
    if (name !== 'filedata' || file === null) continue;
    reply = isOpen ? await receive(call, { id: job.id, name: file, bytes }) : refusal('cannot find message');
  }
  if (reply === null) return fail('missing filedata', 404);
  return isOpen && isOk(reply) ? answerForm({ x_format: format }, reply, `/q/${job.queue}/${job.id}`) : reply;
}

const isOk = ({ body }: Reply): boolean => (body as { value?: readonly unknown[] }).value?.[0] === 'ok';

async function receive(call: Call, file: { id: string; name: string; bytes: AsyncIterable<Buffer> }): Promise<Reply> {
  const { context, signal } = call;
  const problem = rqNameProblem(file.name) ?? nameProblem(file.name);
  if (problem !== null) return refusal(problem);
  const node = nodeOf(context);
  const unknown = { offset: null, length: null, size: null, sha256: null, lease: null };
  const source = Readable.from(file.bytes, { objectMode: false });
  const put = { id: file.id, name: file.name, ...unknown, signal, now: context.now(), source: () => source };
  const answer = await node.uploads.put(put);
  if (!answer.ok) return refusedFile(answer);
  if (answer.attachment === null) return refusal('the file is incomplete');
  return ok(`${await node.md5(answer.attachment.sha256)}-Attached successfully`);
}

/** Answers for a message that was committed or deleted during the upload. */
function refusedFile(answer: UploadRefused | Refused): Reply {
  const { code, message } = answer.refusal;
  if (code === 'not-found' || code === 'wrong-state') return refusal('cannot find message');
  return refusal(message);
}

async function removeFile(call: Call): Promise<Reply> {
  const { name } = call.params as { name: string };
  const { fields } = await readRqBody(call);
  if (fields['_method'] !== 'delete') return fail('Invalid method param', 400);
  const job = await jobOrNull(call);
  if (job === null) return refusal('msg not found');
  if (job.state !== 'draft') return refusal('msg not in prep');
  const { attachments, uploads } = nodeOf(call.context);
  if ((await attachments.list(job.id)).length === 0) return json([false, 'No attach directory for msg']);
  const answer = await uploads.remove(job.id, name);
  if (!answer.ok) return json([false, 'No attachment with that named for msg']);
  return answerForm(fields, ok('Attachment deleted successfully'), `/q/${job.queue}/${job.id}`);
}

async function readFile(call: Call): Promise<Reply> {
  const { id } = await jobIn(call);
  const { name } = call.params as { name: string };
  return sendAttachment({ id, name }, call);
}

/** Sends the log of the latest attempt. */
async function readLog(rq: RqCompat, call: Call): Promise<Reply> {
  const job = await jobIn(call);
  const { id } = job;
  if ((call.params as { file: string }).file !== LOG) throw refuseRequest('not-found', `the only log is ${LOG}`);
  if (job.queue === RELAY_QUEUE) return plain(relayLog(job, rq.url));
  const elsewhere = await forwardLog(call, { id, attempt: 'latest', rest: '' });
  if (elsewhere !== null) return elsewhere;
  const found = await nodeOf(call.context).attempts.log(id, 'latest');
  return found.ok ? sendLog(found.log, call.request) : fail(found.refusal.message, 404);
}
