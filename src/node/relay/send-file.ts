/**
 * Sends one attachment to another node in pieces, resumes after a cut, and has its hash checked at the end.
 *
 * A cut is not an error as long as each try makes progress. A try without progress fails the attempt, and the next
 * attempt resumes at the same offset.
 */
import { Readable } from 'node:stream';
import type { Attachment, Attachments } from '../../files/attachments/attachments.ts';
import type { Peer, PeerAnswer } from './peer.ts';
import { askPeer, refusedBy } from './peer.ts';
import { refuseRead } from './read-attachment.ts';
import { RelayFailure } from './relay-failure.ts';

export interface FileToSend {
  readonly peer: Peer;
  /** The job's id at the destination. */
  readonly id: string;
  readonly file: Attachment;
  readonly attachments: Attachments;
  /** Bytes that have already arrived. */
  readonly offset: number;
  onBytes(offset: number): void;
}

/** Limits the length of one request. */
const PIECE_BYTES = 256 * 1024 ** 2;
const MAX_TRIES = 10_000;
const TRANSIENT = new Set(['cut', 'too-slow', 'unreachable']);

export async function sendFile(order: FileToSend): Promise<void> {
  let offset = order.offset;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const answer = await put(order, offset).catch((error: unknown) => resume(order, offset, error));
    if (typeof answer === 'number') {
      offset = answer;
      continue;
    }
    if (answer.status === 201) return checkComplete(order, answer);
    offset = nextOffset(order, answer, offset);
  }
  throw new RelayFailure('refused', `${order.peer.base}: ${order.file.name} did not arrive in ${MAX_TRIES} pieces`);
}

function pathOf({ id, file }: FileToSend): string {
  return `api/jobs/${encodeURIComponent(id)}/attachments/${encodeURIComponent(file.name)}`;
}

async function put(order: FileToSend, offset: number): Promise<PeerAnswer> {
  const { peer, file, attachments } = order;
  const end = Math.min(file.size, offset + PIECE_BYTES);
  const open = async (): Promise<Readable> => {
    if (end === offset) return Readable.from([]);
    const reading = await attachments.read(file, { start: offset, end });
    if (!reading.ok) throw refuseRead(file, reading);
    return reading.stream;
  };
  let at = offset;
  const onSent = (bytes: number): void => order.onBytes((at += bytes));
  return askPeer(peer, {
    method: 'PUT',
    path: pathOf(order),
    headers: {
      'content-type': 'application/octet-stream',
      'upload-offset': String(offset),
      'upload-length': String(file.size),
      'x-content-sha256': file.sha256,
    },
    body: { length: end - offset, open, pacer: peer.pacer, onSent },
  });
}

/** Returns the offset to resume from after a cut, if there was progress. */
async function resume(order: FileToSend, from: number, error: unknown): Promise<number> {
  if (!(error instanceof RelayFailure) || !TRANSIENT.has(error.code)) throw error;
  const { status, headers } = await askPeer(order.peer, { method: 'HEAD', path: pathOf(order) });
  const offset = Number(headers['upload-offset'] ?? Number.NaN);
  if (status !== 200 || !(offset > from && offset <= order.file.size)) throw error;
  return offset;
}

function nextOffset({ peer, file }: FileToSend, answer: PeerAnswer, before: number): number {
  const { status, headers } = answer;
  const offset = Number(headers['upload-offset'] ?? Number.NaN);
  // 409: an earlier try sent more, or less, than known here.
  const isOffsetGiven = (status === 202 || status === 409) && offset >= 0 && offset <= file.size && offset !== before;
  if (isOffsetGiven) return offset;
  throw refusedBy(peer, answer, status === 400 ? 'wrong-hash' : undefined);
}

function checkComplete({ peer, file }: FileToSend, { json }: PeerAnswer): void {
  const { sha256, size } = (json ?? {}) as { sha256?: unknown; size?: unknown };
  if (sha256 === file.sha256 && size === file.size) return;
  throw new RelayFailure('wrong-hash', `${peer.base}: attachment ${file.name} arrived with another hash`);
}
