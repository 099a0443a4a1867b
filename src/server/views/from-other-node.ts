/**
 * Forwards requests for logs, attachments and processes to the node of the store that has them, and streams the answer. Only
 * requests of authorized callers are forwarded; requests of other nodes never are, so that no request can circulate.
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

/** Request headers that are forwarded: ranges and conditions. */
const REQUEST_HEADERS = ['range', 'if-range', 'if-none-match', 'last-event-id'] as const;
/** Response headers that are forwarded: those of the content, none of the connection. */
const RESPONSE_HEADERS = [
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

/** Enough for the lines of a log in which every character is escaped. */
const MAX_LINES_BYTES = 8 * 1024 * 1024;

export type ForwardableCall = Pick<Call, 'context' | 'request' | 'signal' | 'principal'>;

export interface LogRequest {
  readonly id: string;
  readonly attempt: number | 'latest';
  /** The part of the URL after `…/log`. */
  readonly rest: string;
}

/** Forwards a request for a log. Returns null if the log is on this node, does not exist yet, or no node has it. */
export async function forwardLog(call: ForwardableCall, { id, attempt, rest }: LogRequest): Promise<Reply | null> {
  const { store } = call.context;
  const node = nodeOf(call.context);
  const [job] = await store.jobs.find([id]);
  if (!store.isShared || job === null || job === undefined) return null;
  const number = attempt === 'latest' ? job.attempt : attempt;
  if (number === 0 || number > job.attempt) return null;
  // A node that resumes the attempt asks for the part before.
  const isFromNode = call.principal.node !== undefined;
  if (isFromNode ? node.attempts.isHere(id, number) : await node.attempts.isLatestHere(job, number)) return null;
  const what = `the log of attempt ${number} of job ${id}`;
  if (isFromNode) throw refuseRequest('not-found', `${what} is not on this node`);
  const holder = await holderOf(store, job, number);
  if (holder === null || (holder === node.others.id && isStarting(job, number))) return null;
  // `latest` is forwarded as a number, so that both nodes mean the same attempt.
  const path = `/api/jobs/${encodeURIComponent(id)}/attempts/${number}/log${rest}`;
  return forward(call, { what, holders: [holder], path });
}

/** Returns the last lines of the latest attempt from its node; null under the conditions of `forwardLog`. */
export async function remoteLastLines(
  call: ForwardableCall,
  id: string,
  count: number,
): Promise<readonly string[] | null> {
  const reply = await forwardLog(call, { id, attempt: 'latest', rest: `?tail=${count}` });
  if (reply?.body.kind !== 'bytes') return null;
  const page = (await jsonIn(reply.body.stream, MAX_LINES_BYTES)) as { lines?: readonly { text: string }[] } | null;
  if (reply.status === 200 && page?.lines !== undefined) return page.lines.map(({ text }) => text);
  throw refuseRequest('node-away', `the log of job ${id}: the answer of the node that holds it is incomplete`);
}

const isStarting = ({ state, attempt }: Job, number: number): boolean => state === 'running' && attempt === number;

/** Forwards a request for an attachment. Returns null if this node has it, or the store is not shared. */
export async function forwardAttachment(call: ForwardableCall, id: string, file: Attachment): Promise<Reply | null> {
  const { attachments } = nodeOf(call.context);
  if (await attachments.isHere(file)) return null;
  const what = `attachment ${file.name} of job ${id}`;
  if (call.principal.node !== undefined) throw refuseRequest('not-found', `${what} is not on this node`);
  if (!call.context.store.isShared) return null;
  return forward(call, { what, holders: await attachments.holders(file), path: attachmentPath(id, file) });
}

/** Forwards a request for the processes of a job. Returns null unless the job runs on another node. */
export async function forwardProcesses(call: ForwardableCall, job: Job): Promise<Reply | null> {
  const { others } = nodeOf(call.context);
  if (call.principal.node !== undefined || job.lease === null) return null;
  const holder = await holderOf(call.context.store, job, job.attempt);
  if (holder === null || holder === others.id) return null;
  return forward(call, { what: `job ${job.id}`, holders: [holder], path: call.request.url ?? '' });
}

interface Forwarding {
  readonly what: string;
  readonly holders: readonly string[];
  readonly path: string;
}

async function forward(
  { context, request, signal }: ForwardableCall,
  { what, holders, path }: Forwarding,
): Promise<Reply> {
  const headers = picked(request.headers, REQUEST_HEADERS);
  const reply = await nodeOf(context).others.ask(holders, { path, headers, signal });
  if (!reply.ok) throw refuseRequest('node-away', `${what}: ${reply.why}`);
  return replyOf(reply);
}

function replyOf({ status, headers, body }: NodeAnswer): Reply {
  return { status, headers: picked(headers, RESPONSE_HEADERS), body: { kind: 'bytes', stream: body } };
}

function picked(headers: IncomingMessage['headers'], names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : [])),
  );
}
