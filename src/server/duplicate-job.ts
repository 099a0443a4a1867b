/**
 * A job made after another. Where there are attachments it is a draft until it has them too, so that nobody claims it
 * without; a unique key is not taken over, since the other job may hold it.
 */
import type { GivenOptions } from '../core/add-options.ts';
import { newJobOf } from '../core/add-options.ts';
import type { Job } from '../core/job.ts';
import type { NewJob } from '../core/job-store.ts';
import type { ServerContext } from './context.ts';
import { findJob } from './job-views.ts';
import { mustBeOk } from './one-result.ts';
import type { Reply } from './reply.ts';
import { json } from './reply.ts';

interface Duplicate extends GivenOptions {
  readonly from: string;
  readonly queue?: string;
  readonly data?: string;
  newId(): string;
}

export async function duplicateJob(context: ServerContext, order: Duplicate): Promise<Reply> {
  const { from, queue, data, newId, ...options } = order;
  const job = await findJob(context, from);
  const attachments = context.node?.attachments ?? null;
  const hasFiles = attachments !== null && (await attachments.list(from)).length > 0;
  const wanted = copyOf(job, newJobOf({ queue: queue ?? job.queue, data: data ?? job.data, newId }, options));
  const { jobs } = context.store;
  const { ok: _ok, ...added } = mustBeOk(await jobs.add([hasFiles ? { ...wanted, draft: true } : wanted]));
  if (!hasFiles || added.state !== 'draft') return json(added, added.outcome === 'added' ? 201 : 200);
  await attachments.copy(from, added.id);
  if (wanted.draft === true) return json(added, 201);
  const { state } = mustBeOk(await jobs.commit([added.id]));
  return json({ ...added, state }, 201);
}

function copyOf(job: Job, wanted: NewJob): NewJob {
  const { name, priority, tags, policy } = job;
  return { ...(name !== null && { name }), priority, tags, ...wanted, policy: { ...policy, ...wanted.policy } };
}
