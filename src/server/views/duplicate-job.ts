/**
 * Adds a copy of a job. With attachments, the copy is a draft until they are copied, so that no worker claims it without
 * them. The unique key is not copied, since the original may hold it.
 */
import type { GivenOptions } from '../../core/input/add-options.ts';
import { newJobOf } from '../../core/input/add-options.ts';
import type { Job } from '../../core/job/job.ts';
import { isAddress, relayJob } from '../../core/job/relay-request.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import { recallRelayed } from '../../node/relay/relay-memory.ts';
import { mustBeOk } from '../http/one-result.ts';
import type { Reply } from '../http/reply.ts';
import { json } from '../http/reply.ts';
import type { ServerContext } from './context.ts';
import { findJob } from './job-views.ts';

interface Duplicate extends GivenOptions {
  readonly from: string;
  readonly queue?: string;
  readonly data?: string;
  newId(): string;
}

export async function duplicateJob(context: ServerContext, request: Duplicate): Promise<Reply> {
  const { from } = request;
  const job = await findJob(context, from);
  const attachments = context.node?.attachments ?? null;
  const hasFiles = attachments !== null && (await attachments.list(from)).length > 0;
  const copy = await toNewJob(context, job, request);
  const { jobs } = context.store;
  const { ok: _ok, ...added } = mustBeOk(await jobs.add([hasFiles ? { ...copy, draft: true } : copy]));
  if (!hasFiles || added.state !== 'draft') return json(added, added.outcome === 'added' ? 201 : 200);
  await attachments.copy(from, added.id);
  if (copy.draft === true) return json(added, 201);
  const { state } = mustBeOk(await jobs.commit([added.id]));
  return json({ ...added, state }, 201);
}

async function toNewJob(context: ServerContext, job: Job, request: Duplicate): Promise<NewJob> {
  const { from: _from, queue = job.queue, data = job.data, newId, forceRemote = false, ...options } = request;
  if (!isAddress(queue))
    return copyOf(job, newJobOf({ queue, data, newId }, { ...options, ...(forceRemote && { forceRemote }) }));
  const copy = copyOf(job, newJobOf({ queue: job.queue, data, newId }, options));
  const relayed = await recallRelayed(context.store.records, job.id);
  const route = relayed === null ? {} : { origin: relayed.origin, hops: relayed.hops };
  return relayJob({ ...copy, queue }, { forceRemote, ...route });
}

function copyOf(job: Job, changes: NewJob): NewJob {
  const { name, priority, tags, policy } = job;
  return { ...(name !== null && { name }), priority, tags, ...changes, policy: { ...policy, ...changes.policy } };
}
