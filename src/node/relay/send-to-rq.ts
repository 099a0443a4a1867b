/**
 * A job handed to a host of RQ 1.18 in its own protocol: prep, each file with its MD5 in the answer, commit.
 *
 * RQ chooses the id, so it is kept as the job's checkpoint before anything else is sent; and RQ remembers no commit, so a
 * job that was sent before is asked for first: whatever is no longer in `prep` has been committed. Only a message that
 * is gone there begins anew, which after more than that host's own memory can be a second delivery.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, boundaryOf, refusedBy } from './peer.ts';
import { refuseRead } from './read-attachment.ts';
import { RelayFailure } from './relay-failure.ts';
import { FORM_TYPE, fileForm, formOf, rqAnswer } from './rq-form.ts';
import { rqMessage } from './rq-message.ts';
import type { JobToSend } from './send-job.ts';

interface RqJob extends JobToSend {
  readonly job: RunningJob;
  readonly context: AttemptContext;
}

/** The address it has there. */
export async function sendToRq(order: RqJob): Promise<string> {
  const { peer, relayed, files } = order;
  const { id, isCommitted } = (await sentBefore(order)) ?? (await prep(order));
  const place = `q/${relayed.queue}/${id}`;
  if (!isCommitted) {
    const there = await attachedThere(peer, place);
    for (const file of files) await attach(order, { place, file, there });
    await commit(peer, place);
  }
  return `${peer.base}${place}`;
}

interface RqId {
  readonly id: string;
  readonly isCommitted: boolean;
}

/** Of the checkpoint: to which address it was sent, and as what. */
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
  const words = mustBeOk(peer, await post(peer, path, { _method: 'prep', x_format: 'json', mesg }));
  const id = words.split('/').at(-1) ?? '';
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id) || /^\.+$/.test(id))
    throw new RelayFailure('not-a-node', `${peer.base} answered an id that is none`);
  const checkpoint: RqCheckpoint = { rqDest: destOf(order), rqId: id };
  await context.checkpoint(JSON.stringify(checkpoint));
  return { id, isCommitted: false };
}

type Md5s = Readonly<Record<string, { readonly md5?: unknown } | undefined>>;

async function attachedThere(peer: Peer, place: string): Promise<Md5s> {
  const { status, json } = await askPeer(peer, { method: 'GET', path: `${place}.json` });
  const found = status === 200 ? (json as { _attachments?: Md5s } | undefined)?._attachments : undefined;
  return found ?? {};
}

interface Attaching {
  readonly place: string;
  readonly file: Attachment;
  readonly there: Md5s;
}

async function attach(order: RqJob, { place, file, there }: Attaching): Promise<void> {
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
  const answer = await askPeer(peer, { method: 'POST', path: `${place}/attach/new`, headers, body });
  const words = mustBeOk(peer, answer);
  if (words.split('-')[0]?.toLowerCase() !== md5)
    throw new RelayFailure('wrong-hash', `${peer.base}: attachment ${file.name} arrived with another MD5`);
}

async function commit(peer: Peer, place: string): Promise<void> {
  mustBeOk(peer, await post(peer, place, { _method: 'commit', x_format: 'json' }));
}

function post(peer: Peer, path: string, fields: Readonly<Record<string, string>>): Promise<PeerAnswer> {
  return askPeer(peer, { method: 'POST', path, headers: { 'content-type': FORM_TYPE }, body: formOf(fields) });
}

function mustBeOk(peer: Peer, answer: PeerAnswer): string {
  const said = rqAnswer(answer.json);
  if (answer.status === 200 && said?.isOk === true) return said.words;
  throw refusedBy(peer, answer);
}
