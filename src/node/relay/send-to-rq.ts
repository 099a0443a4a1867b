/**
 * Sends a job to an RQ 1.18 host in RQ's own protocol: prep, each file with its MD5 in the answer, commit.
 *
 * RQ chooses the id, so it is saved as the job's checkpoint before anything else is sent. RQ keeps no record of
 * commits, so a job that was sent before is read first: any state but `prep` means committed. Only a message that no
 * longer exists there is sent again; if the host had removed it after processing, this is a second delivery.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, boundaryOf, refusedBy } from './peer.ts';
import { refuseRead } from './read-attachment.ts';
import { RelayFailure } from './relay-failure.ts';
import type { RelayedJob } from './relay-messages.ts';
import { FORM_TYPE, fileForm, formOf, rqAnswer } from './rq-form.ts';
import type { JobToSend } from './send-job.ts';

interface RqJob extends JobToSend {
  readonly job: RunningJob;
  readonly context: AttemptContext;
}

/** Returns the job's address there. */
export async function sendToRq(order: RqJob): Promise<string> {
  const { peer, relayed, files } = order;
  const { id, isCommitted } = (await sentBefore(order)) ?? (await prep(order));
  const path = `q/${relayed.queue}/${id}`;
  if (!isCommitted) {
    const there = await attachedThere(peer, path);
    for (const file of files) await attach(order, { path, file, there });
    await commit(peer, path);
  }
  return `${peer.base}${path}`;
}

interface RqId {
  readonly id: string;
  readonly isCommitted: boolean;
}

/** The checkpoint: destination and id of the message. */
interface RqCheckpoint {
  readonly rqDest: string;
  readonly rqId: string;
}

async function sentBefore(order: RqJob): Promise<RqId | null> {
  const { job, peer, relayed } = order;
  const known = job.checkpoint === null ? null : (JSON.parse(job.checkpoint) as Partial<RqCheckpoint> | null);
  if (known?.rqId === undefined || known.rqDest !== destOf(order)) return null;
  const answer = await askPeer(peer, { method: 'GET', path: `q/${relayed.queue}/${known.rqId}/state.json` });
  if (answer.status === 404) return null;
  const [state] = Array.isArray(answer.json) ? (answer.json as unknown[]) : [];
  if (answer.status !== 200 || typeof state !== 'string') throw refusedBy(peer, answer);
  return { id: known.rqId, isCommitted: state !== 'prep' };
}

const destOf = ({ peer, relayed }: RqJob): string => `${peer.base}q/${relayed.queue}`;

async function prep(order: RqJob): Promise<RqId> {
  const { peer, relayed, context } = order;
  const mesg = JSON.stringify(rqMessage(relayed, peer.base));
  const path = `q/${relayed.queue}/new_message`;
  const address = requireOk(peer, await post(peer, path, { _method: 'prep', x_format: 'json', mesg }));
  const id = address.split('/').at(-1) ?? '';
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id) || /^\.+$/.test(id))
    throw new RelayFailure('not-a-node', `${peer.base} answered with an invalid id`);
  const checkpoint: RqCheckpoint = { rqDest: destOf(order), rqId: id };
  await context.checkpoint(JSON.stringify(checkpoint));
  return { id, isCommitted: false };
}

type Md5s = Readonly<Record<string, { readonly md5?: unknown } | undefined>>;

async function attachedThere(peer: Peer, path: string): Promise<Md5s> {
  const { status, json } = await askPeer(peer, { method: 'GET', path: `${path}.json` });
  const found = status === 200 ? (json as { _attachments?: Md5s } | undefined)?._attachments : undefined;
  return found ?? {};
}

interface Attaching {
  readonly path: string;
  readonly file: Attachment;
  readonly there: Md5s;
}

async function attach(order: RqJob, { path, file, there }: Attaching): Promise<void> {
  const { peer, attachments, onProgress } = order;
  const md5 = await attachments.md5(file);
  if (there[file.name]?.md5 === md5) return;
  const boundary = boundaryOf();
  const open = async () => {
    const reading = await attachments.read(file);
    if (!reading.ok) throw refuseRead(file, reading);
    return reading.stream;
  };
  let sent = 0;
  const onSent = (bytes: number): void => {
    sent += bytes;
    onProgress(Math.min(100, Math.floor((sent / (file.size + 1)) * 100)), `sending ${file.name}`);
  };
  const body = { ...fileForm({ boundary, name: file.name, size: file.size, open }), pacer: peer.pacer, onSent };
  const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
  const answer = await askPeer(peer, { method: 'POST', path: `${path}/attach/new`, headers, body });
  const hash = requireOk(peer, answer);
  if (hash.split('-')[0]?.toLowerCase() !== md5)
    throw new RelayFailure('wrong-hash', `${peer.base}: attachment ${file.name} arrived with another MD5`);
}

async function commit(peer: Peer, path: string): Promise<void> {
  requireOk(peer, await post(peer, path, { _method: 'commit', x_format: 'json' }));
}

function post(peer: Peer, path: string, fields: Readonly<Record<string, string>>): Promise<PeerAnswer> {
  return askPeer(peer, { method: 'POST', path, headers: { 'content-type': FORM_TYPE }, body: formOf(fields) });
}

function requireOk(peer: Peer, answer: PeerAnswer): string {
  const reply = rqAnswer(answer.json);
  if (answer.status === 200 && reply?.isOk === true) return reply.text;
  throw refusedBy(peer, answer);
}

const MESSAGE_FIELDS = [
  'src',
  'max_count',
  'param1',
  'param2',
  'param3',
  'param4',
  'post_run_webhook',
  'force_remote',
] as const;

/**
 * Converts a job to an RQ message. A job that was such a message keeps its fields; for any other job the data become
 * `param1`.
 */
function rqMessage({ data, queue, origin }: RelayedJob, base: string): Readonly<Record<string, unknown>> {
  const given: unknown = JSON.parse(data);
  const dest = `${base}q/${queue}`;
  return { ...fieldsOf(given, data), dest, count: 0, orig_msg_id: origin };
}

function fieldsOf(given: unknown, data: string): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return { param1: data };
  const fields = given as Readonly<Record<string, unknown>>;
  const isMessage = MESSAGE_FIELDS.some((name) => name in fields);
  if (!isMessage) return { param1: data };
  return Object.fromEntries(MESSAGE_FIELDS.flatMap((name) => (name in fields ? [[name, fields[name]]] : [])));
}
