/**
 * Sends a job to another Longhaul node: prepares it under an id chosen by the sender, sends its files, commits.
 *
 * No progress is stored here: the receiver reports it when the job is prepared again. So any later attempt can start
 * over.
 */
import type { Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';
import type { BegunFile, PreparedFile, RelayedJob } from './relay-messages.ts';
import { sendFile } from './send-file.ts';

export interface JobToSend {
  readonly peer: Peer;
  /** The job's id at the destination. */
  readonly id: string;
  readonly relayed: RelayedJob;
  readonly files: readonly Attachment[];
  readonly attachments: Attachments;
  onProgress(percent: number, text: string): void;
}

export async function sendJob(order: JobToSend): Promise<void> {
  const { peer, id, files } = order;
  const prepared = await prepare(order);
  if (prepared === 'committed') return;
  const left = files.filter(({ name, sha256 }) => !prepared.files.some((f) => f.name === name && f.sha256 === sha256));
  const meter = meterOf(order, left);
  for (const file of left) {
    const offset = prepared.begun.find(({ name }) => name === file.name)?.offset ?? 0;
    meter(file, offset);
    await sendFile({ ...order, file, offset, onBytes: (at) => meter(file, at) });
  }
  const named = files.map(({ name, sha256, size }) => ({ name, sha256, size }));
  const answer = await callPeer(peer, 'POST', `api/relay/${encodeURIComponent(id)}/commit`, { files: named });
  if (phaseOf(answer) !== 'committed') throw unexpectedAnswer(peer, answer);
}

interface PreparedDraft {
  readonly files: readonly PreparedFile[];
  readonly begun: readonly BegunFile[];
}

async function prepare({ peer, id, relayed }: JobToSend): Promise<PreparedDraft | 'committed'> {
  const { data, ...rest } = relayed;
  const body = { ...rest, data: JSON.parse(data) as unknown };
  const answer = await callPeer(peer, 'PUT', `api/relay/${encodeURIComponent(id)}`, body);
  if (phaseOf(answer) === 'committed') return 'committed';
  const { files, begun } = (answer.json ?? {}) as Partial<PreparedDraft>;
  if (!Array.isArray(files) || !Array.isArray(begun)) throw unexpectedAnswer(peer, answer);
  return { files: files as PreparedFile[], begun: begun as BegunFile[] };
}

/** Enough for a list of a thousand files. */
const MAX_ANSWER_BYTES = 1024 * 1024;

async function callPeer(peer: Peer, method: 'PUT' | 'POST', path: string, body: unknown): Promise<PeerAnswer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await askPeer(peer, {
    method,
    path,
    headers,
    body: JSON.stringify(body),
    maxAnswerBytes: MAX_ANSWER_BYTES,
  });
  if (answer.status === 200) return answer;
  throw refusedBy(peer, answer);
}

function phaseOf({ json }: PeerAnswer): unknown {
  return (json as { phase?: unknown } | undefined)?.phase;
}

function unexpectedAnswer({ base }: Peer, { status }: PeerAnswer): RelayFailure {
  return new RelayFailure('not-a-node', `${base} answered ${status}, but not like a Longhaul node`);
}

function meterOf({ onProgress }: JobToSend, files: readonly Attachment[]): (file: Attachment, at: number) => void {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  return (file, at) => {
    const before = files.slice(0, files.indexOf(file)).reduce((sum, { size }) => sum + size, 0);
    const percent = total === 0 ? 100 : Math.floor(((before + at) / total) * 100);
    onProgress(percent, `sending ${file.name}: ${at} of ${file.size} bytes`);
  };
}
