/**
 * Follows a log while it grows, from a place on, to the end of its attempt.
 *
 *     text … text ─▶ reset (the log was cut behind the reader) ─▶ text … ─▶ end
 *
 * Invariant: whether the attempt is over is asked before its log is read, so that nothing that was written before the
 * end is missed. A text ends with a whole character, unless nothing more can come.
 */
import type { JobState } from '../../core/job/job.ts';
import { FolderWatch } from '../../runner/attempt/folder-watch.ts';
import type { LogPiece } from '../../runner/log/read-log.ts';
import { readLog } from '../../runner/log/read-log.ts';
import type { LogSubject } from './attempt-log-reader.ts';
import { AttemptClock } from './attempt-progress.ts';
import { readAttemptRecord } from './attempt-record.ts';
import type { LogPlace } from './log-position.ts';
import { isStillThere, unfinishedCharacter } from './log-position.ts';

export type LogNews =
  | { readonly kind: 'text'; readonly from: number; readonly to: LogPlace; readonly text: string }
  /** What the reader has beyond `place` is no longer there: it goes on from here. */
  | { readonly kind: 'reset'; readonly to: LogPlace }
  | {
      readonly kind: 'end';
      readonly to: LogPlace;
      /** What became of the job; null when it was deleted. */
      readonly state: JobState | null;
      readonly exit: number | null;
      readonly signal: string | null;
    };

const PIECE_BYTES = 64 * 1024;
/** The net under events that were lost. */
const LOOK_EVERY_MS = 1_000;

export async function* followLog(
  subject: LogSubject,
  from: LogPlace | null,
  signal: AbortSignal,
): AsyncGenerator<LogNews> {
  const clock = new AttemptClock(subject, LOOK_EVERY_MS);
  const watch = new FolderWatch(subject.folder, () => clock.ring());
  watch.start(0);
  let place = from ?? { offset: 0, generation: 0 };
  try {
    for (;;) {
      const ended = await clock.ended();
      for await (const news of readOn(subject, place, { isOver: ended !== null })) {
        place = news.to;
        yield news;
        if (signal.aborted) return;
      }
      if (ended !== null) return void (yield { ...(await endOf(subject)), state: ended.state, to: place });
      await clock.next(signal);
      if (signal.aborted) return;
    }
  } finally {
    watch.close();
    clock.close();
  }
}

async function* readOn(
  { folder, secrets }: LogSubject,
  from: LogPlace,
  { isOver }: { isOver: boolean },
): AsyncGenerator<LogNews & { kind: 'text' | 'reset' }> {
  for (let place = from; ; ) {
    const piece = await readLog(folder, { from: place.offset, maxBytes: PIECE_BYTES }, { secrets, isRunning: !isOver });
    const { generation } = piece;
    if (!isStillThere(place, piece)) {
      // A place from the future is one of a log that is gone: from the beginning, then.
      place = { offset: place.generation < generation ? Math.min(piece.head, piece.size) : 0, generation };
      yield { kind: 'reset', to: place };
      continue;
    }
    // Shorter than it was, and the index does not say so yet: the next look knows.
    const length = piece.from === place.offset ? textLength(piece, isOver) : 0;
    if (length === 0) return;
    place = { offset: piece.from + length, generation };
    yield { kind: 'text', from: piece.from, to: place, text: piece.bytes.toString('utf8', 0, length) };
  }
}

function textLength({ bytes, to, size }: LogPiece, isOver: boolean): number {
  return isOver && to === size ? bytes.length : bytes.length - unfinishedCharacter(bytes);
}

async function endOf({ folder }: LogSubject) {
  const end = (await readAttemptRecord(folder))?.end;
  return { kind: 'end' as const, exit: end?.exit ?? null, signal: end?.signal ?? null };
}
