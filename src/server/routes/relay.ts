/**
 * Relay between nodes: the sender prepares a job under an id that it chose, sends the files, and commits it. Each step is
 * idempotent. Other routes ask the receiving node for the state of a relayed job.
 *
 * A token with the role relay gives access only to jobs that arrived by relay.
 */
import { anything, fields, flag, integer, listOf, object, oneOf, orNull, text } from '../../core/input/check.ts';
import type { Job } from '../../core/job/job.ts';
import { LABELS } from '../../core/job/label.ts';
import { jobId, queueName, tag } from '../../core/job/names.ts';
import { refuse } from '../../core/ports/refusal.ts';
import { priority } from '../../core/settings/policy-input.ts';
import { sentName } from '../../files/attachments/file-upload.ts';
import { RELAY_PROTOCOL } from '../../node/relay/relay-messages.ts';
import { jsonValue } from '../../wire/json-value.ts';
import { state } from '../../wire/port-answers.ts';
import { policyRecord, whole, word } from '../../wire/port-checks.ts';
import { refusedReply } from '../http/problem.ts';
import type { Reply } from '../http/reply.ts';
import { json, text as textReply } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import type { ServerContext } from '../views/context.ts';
import type { ForwardableCall } from '../views/from-other-node.ts';
import { remoteLastLines } from '../views/from-other-node.ts';
import { findJob, viewsOf } from '../views/job-views.ts';
import { nodeOf } from '../views/node-of.ts';

const MAX_FILES = 1_000;
const LOG_LINES = 500;
const PATH = '/api/relay/{id}';
const params = { id: jobId };
const freeText = text({ max: 64 * 1024 });
const address = text({ max: 4_096 });

const file = fields({
  name: sentName,
  sha256: text({ max: 64 }),
  size: whole,
});
const phase = oneOf('draft', 'committed');
const relayedJob = fields(
  { queue: queueName, data: jsonValue, source: word, origin: address, hops: integer(0, 1_000_000) },
  { job: object({ name: word, priority, tags: listOf(tag, 100), policy: policyRecord }) },
);
const commitBody = fields({ files: listOf(file, MAX_FILES) });
const committed = fields({ phase, queue: word });

const remoteView = fields({ address, known: flag, reason: orNull(freeText), job: anything });
const relayedView = fields({
  id: word,
  queue: word,
  state,
  label: oneOf(...LABELS),
  reason: freeText,
  attempt: whole,
  progress: anything,
  failure: anything,
  endedAt: orNull(whole),
});

export const relayRoutes: readonly Route[] = [
  route({
    name: 'relay.hello',
    method: 'GET',
    path: '/api/relay',
    about:
      'Returns the relay protocol version and the identity of the store, for a node that wants to relay to this one.',
    role: 'relay',
    answer: fields({ protocol: whole, version: word, store: word }),
    handle: ({ context }) =>
      json({ protocol: RELAY_PROTOCOL, version: context.version, store: nodeOf(context).relay.source }),
  }),
  route({
    name: 'relay.prepare',
    method: 'PUT',
    path: PATH,
    about:
      'Prepares a job under the id that its sender chose. Returns the files that arrived, or that the job is committed.',
    role: 'relay',
    params,
    body: relayedJob,
    answer: fields(
      { phase, queue: word },
      { files: listOf(file, MAX_FILES), begun: listOf(fields({ name: word, offset: whole }), MAX_FILES) },
    ),
    handle: async ({ params, body, context }) => {
      const answer = await nodeOf(context).relay.receiver.prepare(params.id, { job: {}, ...body });
      return answered(answer);
    },
  }),
  route({
    name: 'relay.commit',
    method: 'POST',
    path: `${PATH}/commit`,
    about: 'Commits a prepared job with exactly these files. Idempotent, even after the job was deleted.',
    role: 'relay',
    params,
    body: commitBody,
    answer: committed,
    handle: async ({ params, body, context }) =>
      answered(await nodeOf(context).relay.receiver.commit(params.id, body.files)),
  }),
  route({
    name: 'relay.status',
    method: 'GET',
    path: PATH,
    about: 'Returns the state of a job that arrived by relay.',
    role: 'relay',
    params,
    answer: relayedView,
    handle: async ({ params, context }) => {
      const job = await relayedIn(context, params.id);
      return 'status' in job ? job : json(await viewOfRelayed(context, job));
    },
  }),
  route({
    name: 'relay.log',
    method: 'GET',
    path: `${PATH}/log`,
    about: 'Returns the last log lines of a job that arrived by relay.',
    role: 'relay',
    params,
    answer: 'text',
    handle: async (call) => {
      const job = await relayedIn(call.context, call.params.id);
      return 'status' in job ? job : lastLines(call, call.params.id);
    },
  }),
  route({
    name: 'jobs.remote',
    method: 'GET',
    path: '/api/jobs/{id}/remote',
    about: 'Returns the state of a forwarded job, from the node that received it.',
    role: 'read',
    params,
    answer: remoteView,
    handle: async ({ params, context, signal }) => {
      const job = await findJob(context, params.id);
      if (job.forwardedTo === null) return notForwarded(params.id);
      return json(await nodeOf(context).relay.remote.view(job, signal));
    },
  }),
  route({
    name: 'jobs.remote-log',
    method: 'GET',
    path: '/api/jobs/{id}/remote/log',
    about: 'Returns the last log lines of a forwarded job, from the node that received it.',
    role: 'read',
    params,
    answer: fields({ known: flag, reason: orNull(freeText), text: text({ max: Number.MAX_SAFE_INTEGER }) }),
    handle: async ({ params, context, signal }) => {
      const job = await findJob(context, params.id);
      if (job.forwardedTo === null) return notForwarded(params.id);
      return json(await nodeOf(context).relay.remote.log(job, signal));
    },
  }),
];

type Answer = Awaited<ReturnType<ReturnType<typeof nodeOf>['relay']['receiver']['prepare']>>;

function answered(answer: Answer): Reply {
  if (!answer.ok) return refusedReply(answer.refusal);
  const { ok: _ok, ...rest } = answer;
  return json(rest);
}

async function relayedIn(context: ServerContext, id: string): Promise<Job | Reply> {
  const found = await nodeOf(context).relay.receiver.find(id);
  if (found === null || found === 'gone') return refusedReply(refuse('not-found', `the relayed job ${id}`).refusal);
  return found;
}

async function viewOfRelayed(context: ServerContext, job: Job): Promise<unknown> {
  const [view] = await viewsOf(context, [job]);
  if (view === undefined) throw new Error('viewsOf must return a view for every job');
  const { id, queue, state, label, reason, attempt, progress, failure, endedAt } = view;
  return { id, queue, state, label, reason, attempt, progress, failure, endedAt };
}

/** Returns the lines from the node of the store that holds the log. */
async function lastLines(call: ForwardableCall, id: string): Promise<Reply> {
  const remote = await remoteLastLines(call, id, LOG_LINES);
  if (remote !== null) return textReply(remote.map((line) => `${line}\n`).join(''));
  const found = await nodeOf(call.context).attempts.log(id, 'latest');
  if (!found.ok) return refusedReply(found.refusal);
  const { lines } = await found.log.tail(LOG_LINES);
  return textReply(lines.map((line) => `${line.text}\n`).join(''));
}

function notForwarded(id: string): Reply {
  const { refusal } = refuse('wrong-state', `job ${id}`);
  return refusedReply({ ...refusal, message: `job ${id} was not forwarded to another node` });
}
