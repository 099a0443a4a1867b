/**
 * A job handed to another node of Longhaul: prepared under the id that this side chose, its files sent, committed.
 *
 * Nothing of how far it came is kept here: the other node knows, and says so when it is prepared again. So this can be
 * begun anew after anything, by whoever has the job then.
 */
import type { Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import { RelayFailure } from './relay-failure.ts';
import type { BegunFile, PreparedFile, RelayedJob } from './relay-messages.ts';
import { sendFile } from './send-file.ts';

export interface JobToSend {
  readonly peer: Peer;
  /** Its id there. */
  readonly id: string;
  readonly relayed: RelayedJob;
  readonly files: readonly Attachment[];
  readonly attachments: Attachments;
  onProgress(percent: number, words: string): void;
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
  const answer = await tell(peer, 'POST', `api/relay/${encodeURIComponent(id)}/commit`, { files: named });
  if (phaseOf(answer) !== 'committed') throw notUnderstood(peer, answer);
}

interface PreparedDraft {
  readonly files: readonly PreparedFile[];
  readonly begun: readonly BegunFile[];
}

async function prepare({ peer, id, relayed }: JobToSend): Promise<PreparedDraft | 'committed'> {
  const { data, ...rest } = relayed;
  const body = { ...rest, data: JSON.parse(data) as unknown };
  const answer = await tell(peer, 'PUT', `api/relay/${encodeURIComponent(id)}`, body);
  if (phaseOf(answer) === 'committed') return 'committed';
  const { files, begun } = (answer.json ?? {}) as Partial<PreparedDraft>;
  if (!Array.isArray(files) || !Array.isArray(begun)) throw notUnderstood(peer, answer);
  return { files: files as PreparedFile[], begun: begun as BegunFile[] };
}

/** Room for the list of a thousand files. */
const MOST_ANSWER = 1024 * 1024;

async function tell(peer: Peer, method: 'PUT' | 'POST', path: string, body: unknown): Promise<PeerAnswer> {
  const headers = { 'content-type': 'application/json' };
  const answer = await askPeer(peer, {
    method,
    path,
    headers,
    body: JSON.stringify(body),
    maxAnswerBytes: MOST_ANSWER,
  });
  if (answer.status === 200) return answer;
  throw refusedBy(peer, answer);
}

function phaseOf({ json }: PeerAnswer): unknown {
  return (json as { phase?: unknown } | undefined)?.phase;
}

function notUnderstood({ base }: Peer, { status }: PeerAnswer): RelayFailure {
  return new RelayFailure('not-a-node', `${base} answered ${status}, but not as a node of Longhaul does`);
}

function meterOf({ onProgress }: JobToSend, files: readonly Attachment[]): (file: Attachment, at: number) => void {
  const total = files.reduce((sum, { size }) => sum + size, 0);
  return (file, at) => {
    const before = files.slice(0, files.indexOf(file)).reduce((sum, { size }) => sum + size, 0);
    const percent = total === 0 ? 100 : Math.floor(((before + at) / total) * 100);
    onProgress(percent, `sending ${file.name}: ${at} of ${file.size} bytes`);
  };
}
