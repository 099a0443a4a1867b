/**
 * Follows a log while it grows, from a position to the end of its attempt.
 *
 *     text … text ─▶ reset (the log was truncated behind the reader) ─▶ text … ─▶ end
 *
 * Invariant: whether the attempt is over is read before its log, so that nothing written before the end is missed. A
 * text ends with a whole character, unless the log is complete.
 */
import type { JobState } from '../../core/job/job.ts';
import { FolderWatch } from '../../runner/attempt/folder-watch.ts';
import type { LogPiece } from '../../runner/log/read-log.ts';
import { readLog } from '../../runner/log/read-log.ts';
import type { LogSubject } from './attempt-log-reader.ts';
import { AttemptPoller } from './attempt-poller.ts';
import { readAttemptRecord } from './attempt-record.ts';
import type { LogPosition } from './log-position.ts';
import { isStillThere, unfinishedCharacter } from './log-position.ts';

export type LogEvent =
  | { readonly kind: 'text'; readonly from: number; readonly to: LogPosition; readonly text: string }
  /** The bytes beyond `to` were removed from the log: the reader continues from there. */
  | { readonly kind: 'reset'; readonly to: LogPosition }
  | {
      readonly kind: 'end';
      readonly to: LogPosition;
      /** The state of the job; null when it was deleted. */
      readonly state: JobState | null;
      readonly exit: number | null;
      readonly signal: string | null;
    };

const PIECE_BYTES = 64 * 1024;
/** Catches up on lost events. */
const POLL_INTERVAL_MS = 1_000;

export async function* followLog(
  subject: LogSubject,
  from: LogPosition | null,
  signal: AbortSignal,
): AsyncGenerator<LogEvent> {
  const poller = new AttemptPoller(subject, POLL_INTERVAL_MS);
  const watch = new FolderWatch(subject.folder, () => poller.wake());
  watch.start(0);
  let position = from ?? { offset: 0, generation: 0 };
  try {
    for (;;) {
      const ended = await poller.ended();
      const folder = (await subject.refresh?.()) ?? subject.folder;
      for await (const event of readFrom({ ...subject, folder }, position, { isOver: ended !== null })) {
        position = event.to;
        yield event;
        if (signal.aborted) return;
      }
      if (ended !== null) return void (yield { ...(await endOf(subject)), state: ended.state, to: position });
      await poller.next(signal);
      if (signal.aborted) return;
    }
  } finally {
    watch.close();
    poller.close();
  }
}

async function* readFrom(
  { folder, secrets }: LogSubject,
  from: LogPosition,
  { isOver }: { isOver: boolean },
): AsyncGenerator<LogEvent & { kind: 'text' | 'reset' }> {
  for (let position = from; ; ) {
    const piece = await readLog(
      folder,
      { from: position.offset, maxBytes: PIECE_BYTES },
      { secrets, isRunning: !isOver },
    );
    const { generation } = piece;
    if (!isStillThere(position, piece)) {
      // A later generation belongs to a log that no longer exists: starts from the beginning.
      position = { offset: position.generation < generation ? Math.min(piece.head, piece.size) : 0, generation };
      yield { kind: 'reset', to: position };
      continue;
    }
    // The log is shorter, but the index does not show it yet: the next poll resolves this.
    const length = piece.from === position.offset ? textLength(piece, isOver) : 0;
    if (length === 0) return;
    position = { offset: piece.from + length, generation };
    yield { kind: 'text', from: piece.from, to: position, text: piece.bytes.toString('utf8', 0, length) };
  }
}

function textLength({ bytes, to, size }: LogPiece, isOver: boolean): number {
  return isOver && to === size ? bytes.length : bytes.length - unfinishedCharacter(bytes);
}

async function endOf({ folder }: LogSubject) {
  const end = (await readAttemptRecord(folder))?.end;
  return { kind: 'end' as const, exit: end?.exit ?? null, signal: end?.signal ?? null };
}
