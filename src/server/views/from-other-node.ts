/**
 * What another node of the store has, passed on to our own caller as it comes: logs, attachments, processes. Only who was
 * let in here is answered, and what a node asks for is never passed on: no question goes round.
 */
import type { IncomingMessage } from 'node:http';
import type { Job } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import { attachmentPath } from '../../node/cluster/file-fetcher.ts';
import { holderOf } from '../../node/cluster/holders.ts';
import type { NodeAnswer } from '../../node/cluster/other-nodes.ts';
import { refuseRequest } from '../http/problem.ts';
import { jsonIn } from '../http/read-json.ts';
import type { Reply } from '../http/reply.ts';
import type { Call } from '../http/route.ts';
import { nodeOf } from './node-of.ts';

/** Of the request: which part, and which state of it the caller has already. */
const ASKED = ['range', 'if-range', 'if-none-match', 'last-event-id'] as const;
/** Of the answer: what tells the content, and nothing that tells of the connection. */
const ANSWERED = [
  'content-type',
  'content-length',
  'content-range',
  'content-disposition',
  'content-security-policy',
  'accept-ranges',
  'etag',
  'repr-digest',
  'log-generation',
  'log-head',
  'log-dropped',
  'retry-after',
] as const;

/** A piece of a log, each character of it escaped at the worst. */
const MOST_LINES_BYTES = 8 * 1024 * 1024;

export type Asking = Pick<Call, 'context' | 'request' | 'signal' | 'who'>;

export interface AskedAttempt {
  readonly id: string;
  readonly attempt: number | 'latest';
  /** What stands behind `…/log` in the address. */
  readonly rest: string;
}

/** Null: it is here, it is to come, or nobody keeps files of it. */
export async function attemptElsewhere(call: Asking, { id, attempt, rest }: AskedAttempt): Promise<Reply | null> {
  const { store } = call.context;
  const node = nodeOf(call.context);
  const [job] = await store.jobs.find([id]);
  if (!store.isShared || job === null || job === undefined) return null;
  const number = attempt === 'latest' ? job.attempt : attempt;
  if (number === 0 || number > job.attempt || node.attempts.isHere(id, number)) return null;
  const what = `the log of attempt ${number} of job ${id}`;
  if (call.who.node !== undefined) throw refuseRequest('not-found', `${what} is not on this node`);
  const holder = await holderOf(store, job, number);
  if (holder === null || (holder === node.others.id && isStarting(job, number))) return null;
  // The latest one is a number from here on: it must not become another one on the way.
  const path = `/api/jobs/${encodeURIComponent(id)}/attempts/${number}/log${rest}`;
  return passOn(call, { what, holders: [holder], path });
}

/** The last lines of the latest attempt as texts. Null: as above. */
export async function lastLinesElsewhere(call: Asking, id: string, count: number): Promise<readonly string[] | null> {
  const reply = await attemptElsewhere(call, { id, attempt: 'latest', rest: `?tail=${count}` });
  if (reply?.body.kind !== 'bytes') return null;
  const page = (await jsonIn(reply.body.stream, MOST_LINES_BYTES)) as { lines?: readonly { text: string }[] } | null;
  if (reply.status === 200 && page?.lines !== undefined) return page.lines.map(({ text }) => text);
  throw refuseRequest('node-away', `the log of job ${id}: the node that holds it did not tell it whole`);
}

const isStarting = ({ state, attempt }: Job, number: number): boolean => state === 'running' && attempt === number;

/** Null: it is on this node's disk. */
export async function attachmentElsewhere(call: Asking, id: string, file: Attachment): Promise<Reply | null> {
  const { attachments } = nodeOf(call.context);
  if (await attachments.isHere(file)) return null;
  const what = `attachment ${file.name} of job ${id}`;
  if (call.who.node !== undefined) throw refuseRequest('not-found', `${what} is not on this node`);
  if (!call.context.store.isShared) return null;
  return passOn(call, { what, holders: await attachments.holders(file), path: attachmentPath(id, file) });
}

/** Null where it does not run on another node. */
export async function runningElsewhere(call: Asking, job: Job): Promise<Reply | null> {
  const { others } = nodeOf(call.context);
  if (call.who.node !== undefined || job.lease === null) return null;
  const holder = await holderOf(call.context.store, job, job.attempt);
  if (holder === null || holder === others.id) return null;
  return passOn(call, { what: `job ${job.id}`, holders: [holder], path: call.request.url ?? '' });
}

interface Wanted {
  readonly what: string;
  readonly holders: readonly string[];
  readonly path: string;
}

async function passOn({ context, request, signal }: Asking, { what, holders, path }: Wanted): Promise<Reply> {
  const headers = picked(request.headers, ASKED);
  const reply = await nodeOf(context).others.ask(holders, { path, headers, signal });
  if (!reply.ok) throw refuseRequest('node-away', `${what}: ${reply.why}`);
  return replyOf(reply);
}

function replyOf({ status, headers, body }: NodeAnswer): Reply {
  return { status, headers: picked(headers, ANSWERED), body: { kind: 'bytes', stream: body } };
}

function picked(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
