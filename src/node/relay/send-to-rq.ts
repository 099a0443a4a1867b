/**
 * Sends a job to an RQ 1.18 host in RQ's own protocol: prep, each file with its MD5 in the answer, commit.
 *
 *     new ──prep──▶ its id is the checkpoint ──files──▶ `isComplete` in the checkpoint ──commit──▶ relayed
 *
 * RQ chooses the id and keeps no record of commits. So an attempt that finds a checkpoint asks for the state of that
 * message first: a message that is no longer in prep was committed by this relay if the checkpoint says that all files
 * were there. Otherwise another client committed it without its files, and the job is sent again. So is one whose message
 * no longer exists there; if the host had removed it after processing, this is a second delivery.
 *
 * Invariant: a job ends as relayed only after RQ confirmed the MD5 of every file.
 */
import type { RunningJob } from '../../core/job/job.ts';
import type { Attachment } from '../../files/attachments/attachments.ts';
import type { AttemptContext } from '../../worker/attempt/run-outcome.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, boundaryOf, refusedBy } from './peer.ts';
import { refuseRead } from './read-attachment.ts';
import { RelayFailure } from './relay-failure.ts';
import { FORM_TYPE, fileForm, formOf, rqAnswer, rqNameProblem } from './rq-form.ts';
import { rqMessage } from './rq-message.ts';
import type { JobToSend } from './send-job.ts';

interface RqJob extends JobToSend {
  readonly job: RunningJob;
  readonly context: AttemptContext;
}

/** Returns the job's address there. */
export async function sendToRq(order: RqJob): Promise<string> {
  const { peer, relayed, files } = order;
  for (const { name } of files) checkName(peer, name);
  const { id, isCommitted } = (await sentBefore(order)) ?? (await prep(order));
  const path = `q/${relayed.queue}/${id}`;
  if (!isCommitted) {
    await attachAll(order, path);
    await checkpoint(order, { id, isComplete: true });
    requireOk(peer, await post(peer, path, { _method: 'commit', x_format: 'json' }));
  }
  return `${peer.base}${path}`;
}

/** A name that RQ refuses is refused before anything is sent: no later attempt could deliver the file. */
function checkName({ base }: Peer, name: string): void {
  const problem = rqNameProblem(name);
  if (problem !== null)
    throw new RelayFailure('bad-file-name', `${base} accepts no attachment of the name ${name}: ${problem}`);
}

interface SentBefore {
  readonly id: string;
  readonly isCommitted: boolean;
}

/** Destination and id of the message, and whether all its files are there. */
interface RqCheckpoint {
  readonly rqDest: string;
  readonly rqId: string;
  readonly isComplete: boolean;
}

async function sentBefore(order: RqJob): Promise<SentBefore | null> {
  const { job, relayed } = order;
  const known = job.checkpoint === null ? null : (JSON.parse(job.checkpoint) as Partial<RqCheckpoint> | null);
  if (known?.rqId === undefined || known.rqDest !== destOf(order)) return null;
  const state = await stateThere(order.peer, `q/${relayed.queue}/${known.rqId}`);
  if (state === 'gone' || (state === 'committed' && known.isComplete !== true)) return null;
  return { id: known.rqId, isCommitted: state === 'committed' };
}

const destOf = ({ peer, relayed }: RqJob): string => `${peer.base}q/${relayed.queue}`;

async function checkpoint(order: RqJob, { id, isComplete }: { id: string; isComplete: boolean }): Promise<void> {
  const value: RqCheckpoint = { rqDest: destOf(order), rqId: id, isComplete };
  await order.context.checkpoint(JSON.stringify(value));
}

/** RQ accepts no such name, so no message has this file. */
const NO_FILE = '.none';

/**
 * Asks by the removal of a file that no message has. `state.json` cannot tell: RQ answers 404 also while the queue is
 * down or its process restarts, but this answer comes from the queue itself.
 */
async function stateThere(peer: Peer, path: string): Promise<'prep' | 'committed' | 'gone'> {
  const answer = await post(peer, `${path}/attach/${NO_FILE}`, { _method: 'delete', x_format: 'json' });
  const [word, text] = answer.status === 200 && Array.isArray(answer.json) ? (answer.json as unknown[]) : [];
  if (word === false) return 'prep';
  if (word === 'fail' && text === 'msg not in prep') return 'committed';
  if (word === 'fail' && text === 'msg not found') return 'gone';
  throw refusedByRq(peer, answer);
}

async function prep(order: RqJob): Promise<SentBefore> {
  const { peer, relayed } = order;
  const mesg = JSON.stringify({ ...rqMessage(relayed, peer.base), _method: 'prep' });
  const address = requireOk(peer, await post(peer, `q/${relayed.queue}/new_message`, { x_format: 'json', mesg }));
  const id = address.split('/').at(-1) ?? '';
  if (!/^[A-Za-z0-9._-]{1,128}$/.test(id) || /^\.+$/.test(id))
    throw new RelayFailure('not-a-node', `${peer.base} answered with an invalid id`);
  await checkpoint(order, { id, isComplete: false });
  return { id, isCommitted: false };
}

type Md5s = Readonly<Record<string, { readonly md5?: unknown } | undefined>>;

/** Sends the files that are not there yet, and has RQ confirm all of them under their names. */
async function attachAll(order: RqJob, path: string): Promise<void> {
  const { peer, files, attachments } = order;
  if (files.length === 0) return;
  const before = order.job.checkpoint === null ? {} : await attachedThere(peer, path);
  for (const file of files)
    if (before[file.name]?.md5 !== (await attachments.md5(file))) await attach(order, path, file);
  const there = await attachedThere(peer, path);
  for (const file of files)
    if (there[file.name]?.md5 !== (await attachments.md5(file)))
      throw new RelayFailure('wrong-hash', `${peer.base} does not list attachment ${file.name} with its MD5`);
}

/** Enough for a thousand files. */
const MAX_ANSWER_BYTES = 1024 * 1024;

async function attachedThere(peer: Peer, path: string): Promise<Md5s> {
  const answer = await askPeer(peer, { method: 'GET', path: `${path}.json`, maxAnswerBytes: MAX_ANSWER_BYTES });
  if (answer.status !== 200) throw refusedBy(peer, answer);
  return (answer.json as { _attachments?: Md5s } | undefined)?._attachments ?? {};
}

async function attach(order: RqJob, path: string, file: Attachment): Promise<void> {
  const { peer, attachments, onProgress } = order;
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
  if (hash.split('-')[0]?.toLowerCase() !== (await attachments.md5(file)))
    throw new RelayFailure('wrong-hash', `${peer.base}: attachment ${file.name} arrived with another MD5`);
}

function post(peer: Peer, path: string, fields: Readonly<Record<string, string>>): Promise<PeerAnswer> {
  return askPeer(peer, { method: 'POST', path, headers: { 'content-type': FORM_TYPE }, body: formOf(fields) });
}

function requireOk(peer: Peer, answer: PeerAnswer): string {
  const reply = rqAnswer(answer.json);
  if (answer.status === 200 && reply?.isOk === true) return reply.text;
  throw refusedByRq(peer, answer);
}

/** RQ answers 200 to most requests that it refuses. */
function refusedByRq(peer: Peer, answer: PeerAnswer): RelayFailure {
  const isDown = rqAnswer(answer.json)?.text === 'status: DOWN';
  return refusedBy(peer, answer, isDown ? 'queue-closed' : undefined);
}
