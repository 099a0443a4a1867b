/**
 * Receives relayed jobs: a draft under the sender's id, then its files, then the commit.
 *
 *     prepare ─▶ draft, with the state of its files ─▶ files ─▶ commit ─▶ committed
 *
 * Invariant: each step can be repeated, in any order. A job that was committed once is not created again while its
 * record lasts (relay-memory.ts). The queue's state is checked at prepare, not at commit: a sender that was accepted is
 * not refused after it has sent everything.
 */
import type { Job } from '../../core/job/job.ts';
import { RELAY_QUEUE } from '../../core/job/relay-request.ts';
import type { Refused } from '../../core/ports/refusal.ts';
import { refuse } from '../../core/ports/refusal.ts';
import type { AttachmentUploads } from '../../files/attachments/attachment-uploads.ts';
import type { Attachments } from '../../files/attachments/attachments.ts';
import type { NodeSettings } from '../node-settings.ts';
import type { IntakeState, QueueIntake } from '../queues/queue-intake.ts';
import { intakeOf } from '../queues/queue-intake.ts';
import { isLoop, loopMessage } from './relay-loop.ts';
import type { RelayedIn } from './relay-memory.ts';
import { recallCommitted, recallRelayed, rememberRelayed } from './relay-memory.ts';
import type { CommitResult, Prepared, PreparedFile, RelayedJob } from './relay-messages.ts';

export interface ReceiverParts extends QueueIntake {
  readonly attachments: Attachments;
  readonly uploads: AttachmentUploads;
  readonly settings: Pick<NodeSettings, 'url' | 'aliases' | 'outbound'>;
  now(): number;
}

export class RelayReceiver {
  readonly #parts: ReceiverParts;

  constructor(parts: ReceiverParts) {
    this.#parts = parts;
  }

  async prepare(id: string, relayed: RelayedJob): Promise<Prepared | Refused> {
    const { store, attachments, uploads, now } = this.#parts;
    const before = await this.#committed(id);
    if (before !== null) return { ok: true, phase: 'committed', queue: before.queue };
    const refused = await this.#refusalOf(relayed);
    if (refused !== null) return refused;
    const { queue, source, origin, hops } = relayed;
    await rememberRelayed(store.records, id, { queue, source, origin, hops, phase: 'preparing' }, now());
    const [added] = await store.jobs.add([{ id, ...jobOf(relayed), draft: true }]);
    if (added === undefined || !added.ok) return added ?? refuse('not-found', `job ${id}`);
    // The record has expired, but the job still exists.
    if (added.state !== 'draft') return { ok: true, phase: 'committed', queue: added.queue };
    if (added.outcome === 'exists') await this.#updateDraft(id, relayed);
    const whole = (await attachments.list(id)).filter(({ direction }) => direction === 'in');
    return { ok: true, phase: 'draft', queue, files: whole.map(toFile), begun: await uploads.begun(id) };
  }

  /** Commits a job with exactly these files: a missing file is refused, an extra one removed. */
  async commit(id: string, files: readonly PreparedFile[]): Promise<CommitResult | Refused> {
    const { store, now } = this.#parts;
    const before = await this.#committed(id);
    if (before !== null) return { ok: true, phase: 'committed', queue: before.queue };
    const known = await recallRelayed(store.records, id);
    if (known === null) return refuse('not-found', `the relayed job ${id}`);
    const problem = await this.#checkFiles(id, files);
    if (problem !== null) return problem;
    await rememberRelayed(store.records, id, { ...known, phase: 'committing' }, now());
    const [committed] = await store.jobs.commit([id]);
    if (committed === undefined || !committed.ok) return committed ?? refuse('not-found', `job ${id}`);
    await rememberRelayed(store.records, id, { ...known, phase: 'committed' }, now());
    return { ok: true, phase: 'committed', queue: known.queue };
  }

  /** Returns the job received under this id; `gone` when it no longer exists; null when none was received. */
  async find(id: string): Promise<Job | 'gone' | null> {
    const { store } = this.#parts;
    const known = await recallRelayed(store.records, id);
    if (known === null) return null;
    const [job] = await store.jobs.find([id]);
    return job ?? 'gone';
  }

  #committed(id: string): Promise<RelayedIn | null> {
    return recallCommitted(this.#parts.store, id, this.#parts.now());
  }

  async #refusalOf({ queue, origin, hops }: RelayedJob): Promise<Refused | null> {
    const { settings } = this.#parts;
    const { maxHops } = settings.outbound;
    const addresses = [settings.url, ...settings.aliases].map((base) => `${base}q/${queue}`);
    if (addresses.some((address) => isLoop(origin, address)) || hops > maxHops)
      return wrongState(loopMessage({ origin, hops, maxHops }));
    if (queue === RELAY_QUEUE) return wrongState('jobs cannot be relayed to the queue relay of another node');
    const state = await intakeOf(this.#parts, queue);
    return state === 'open' ? null : closed(queue, state);
  }

  /** Applies changes that the sender made since the first prepare. */
  async #updateDraft(id: string, relayed: RelayedJob): Promise<void> {
    const { store } = this.#parts;
    const [job] = await store.jobs.find([id]);
    if (job?.state === 'draft' && job.data !== relayed.data) await store.jobs.change([{ id, data: relayed.data }]);
  }

  async #checkFiles(id: string, files: readonly PreparedFile[]): Promise<Refused | null> {
    const { attachments, uploads } = this.#parts;
    const here = (await attachments.list(id)).filter(({ direction }) => direction === 'in');
    const wanted = new Map(files.map((file) => [file.name, file]));
    const missing = files.find(
      ({ name, sha256 }) => !here.some((each) => each.name === name && each.sha256 === sha256),
    );
    if (missing !== undefined) return wrongState(`attachment ${missing.name} of job ${id} is incomplete`);
    const begun = await uploads.begun(id);
    for (const { name } of [...here, ...begun]) if (!wanted.has(name)) await uploads.remove(id, name);
    return uploads.unfinished(id);
  }
}

function jobOf({ queue, data, job: { name, priority, tags, policy } }: RelayedJob) {
  return {
    queue,
    data,
    ...(name !== undefined && { name }),
    ...(priority !== undefined && { priority }),
    ...(tags !== undefined && { tags }),
    ...(policy !== undefined && { policy }),
  };
}

function toFile({ name, sha256, size }: PreparedFile): PreparedFile {
  return { name, sha256, size };
}

function closed(queue: string, state: IntakeState): Refused {
  if (state === 'unknown') return refuse('not-found', `queue ${queue}`);
  const { refusal } = refuse('queue-down', `queue ${queue}`);
  return { ok: false, refusal: { ...refusal, message: `queue ${queue} is ${state} and accepts no relayed jobs` } };
}

function wrongState(message: string): Refused {
  const { refusal } = refuse('wrong-state', '');
  return { ok: false, refusal: { ...refusal, message } };
}
