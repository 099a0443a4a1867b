/**
 * Messages that the relay of an RQ host sends: prepared, with their files, and committed, once each.
 *
 * RQ's relay forgets the id of its message before it notes that the message is relayed, and after a lost answer to a
 * commit it begins again. So the same message may come twice. Its `orig_msg_id` names it, as long as that is a message
 * of the sender's queue `relay`: other messages may share one, because a copy keeps the id of its original.
 *
 *     first time        draft under an id made of queue and orig_msg_id ──▶ committed
 *     before its commit the same draft again
 *     after its commit  another draft, which the commit discards
 *
 * Invariant: no record says `committed` before the commit. A message that was committed once is not committed again
 * while its record lasts (node/relay/relay-memory.ts).
 */
import { createHash } from 'node:crypto';
import type { Job } from '../../core/job/job.ts';
import type { NewJob } from '../../core/ports/job-store.ts';
import { recallCommitted, recallRelayed, rememberRelayed } from '../../node/relay/relay-memory.ts';
import { mustBeOk } from '../../server/http/one-result.ts';
import type { ServerContext } from '../../server/views/context.ts';

const FROM_RELAY = /^https?:\/\/[^\s/]+\/(?:[^\s]*\/)?q\/relay\/[^\s/]+$/i;
const SOURCE = 'rq';

/** Returns the id that names a message of another host's relay; null for any other message. */
export function relayOrigin({ orig_msg_id: origin }: { readonly orig_msg_id?: unknown }): string | null {
  return typeof origin === 'string' && FROM_RELAY.test(origin) ? origin : null;
}

/** Adds the draft of a message from a relay. Returns its id. */
export async function prepareRelayed(context: ServerContext, job: NewJob, origin: string): Promise<string> {
  const { store, now } = context;
  const { queue } = job;
  const first = idOf(queue, origin);
  const repeats = (await recallCommitted(store, first, now())) !== null;
  const id = repeats ? (job.id ?? context.newId()) : first;
  const record = { queue, source: SOURCE, origin, hops: 0, phase: 'preparing' } as const;
  await rememberRelayed(store.records, id, repeats ? { ...record, repeats: first } : record, now());
  const added = mustBeOk(await store.jobs.add([{ ...job, id, draft: true }]));
  if (added.state !== 'draft') {
    // The record has expired, but the job still exists.
    await rememberRelayed(store.records, id, { ...record, phase: 'committed' }, now());
    return prepareRelayed(context, job, origin);
  }
  if (added.outcome === 'exists') await store.jobs.change([{ id, data: job.data }]);
  return id;
}

/** Commits a draft. One that repeats a committed message is discarded instead. */
export async function commitMessage({ store, now }: ServerContext, { id }: Job): Promise<void> {
  const known = await recallRelayed(store.records, id);
  if (known === null) return void mustBeOk(await store.jobs.commit([id]));
  if (known.repeats !== undefined) return void mustBeOk(await store.jobs.delete([id]));
  await rememberRelayed(store.records, id, { ...known, phase: 'committing' }, now());
  mustBeOk(await store.jobs.commit([id]));
  await rememberRelayed(store.records, id, { ...known, phase: 'committed' }, now());
}

function idOf(queue: string, origin: string): string {
  return `rq-${createHash('sha256').update(`${queue} ${origin}`).digest('hex').slice(0, 40)}`;
}
