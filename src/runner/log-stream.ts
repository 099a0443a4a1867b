/** A whole log, from a place on, in pieces with the secrets masked, also those that lie across two pieces. */
import { type OpenLog, readBytes } from './read-log.ts';
import type { Redactor } from './redact.ts';

const PIECE_BYTES = 256 * 1024;

export interface StreamedPiece {
  readonly bytes: Buffer;
  readonly offset: number;
}

/** Up to the length the log has now; what is written meanwhile is for the next reading. */
export async function* streamLog(log: OpenLog, redactor: Redactor, from = 0): AsyncGenerator<StreamedPiece> {
  const { overlap } = redactor;
  for (let at = from; at < log.size; at += PIECE_BYTES) {
    const first = Math.max(0, at - overlap);
    const to = Math.min(log.size, at + PIECE_BYTES);
    const window = await readBytes(log, first, Math.min(log.size, to + overlap) - first);
    const bytes = redactor.mask(window).subarray(at - first, to - first);
    if (bytes.length === 0) return;
    yield { bytes, offset: at };
  }
}
