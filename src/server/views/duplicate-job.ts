/**
 * A job made after another. Where there are attachments it is a draft until it has them too, so that nobody claims it
 * without; a unique key is not taken over, since the other job may hold it.
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

export async function duplicateJob(context: ServerContext, order: Duplicate): Promise<Reply> {
  const { from } = order;
  const job = await findJob(context, from);
  const attachments = context.node?.attachments ?? null;
  const hasFiles = attachments !== null && (await attachments.list(from)).length > 0;
  const wanted = await wantedOf(context, job, order);
  const { jobs } = context.store;
  const { ok: _ok, ...added } = mustBeOk(await jobs.add([hasFiles ? { ...wanted, draft: true } : wanted]));
  if (!hasFiles || added.state !== 'draft') return json(added, added.outcome === 'added' ? 201 : 200);
  await attachments.copy(from, added.id);
  if (wanted.draft === true) return json(added, 201);
  const { state } = mustBeOk(await jobs.commit([added.id]));
  return json({ ...added, state }, 201);
}

async function wantedOf(context: ServerContext, job: Job, order: Duplicate): Promise<NewJob> {
  const { from: _from, queue = job.queue, data = job.data, newId, forceRemote = false, ...options } = order;
  if (!isAddress(queue))
    return copyOf(job, newJobOf({ queue, data, newId }, { ...options, ...(forceRemote && { forceRemote }) }));
  const copy = copyOf(job, newJobOf({ queue: job.queue, data, newId }, options));
  const came = await recallRelayed(context.store.records, job.id);
  return relayJob({ ...copy, queue }, { forceRemote, ...(came !== null && { origin: came.origin, hops: came.hops }) });
}

function copyOf(job: Job, wanted: NewJob): NewJob {
  const { name, priority, tags, policy } = job;
  return { ...(name !== null && { name }), priority, tags, ...wanted, policy: { ...policy, ...wanted.policy } };
}
