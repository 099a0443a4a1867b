/** Reads one attempt's log: by bytes, by lines, by search, or as it grows. */
import { wholeCharacters } from '../../core/job/stored-log.ts';
import type { LogPage } from '../../core/ports/log-store.ts';
import { MAX_LOG_PAGE } from '../../core/ports/log-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { filesOf } from '../../runner/attempt/attempt-files.ts';
import { readLogIndex } from '../../runner/log/log-index.ts';
import type { LinePosition, LogMatch, LogMatches, LogQuery } from '../../runner/log/log-query.ts';
import type { ReadLogOptions } from '../../runner/log/read-log.ts';
import { readLog, readLogLines, withLog } from '../../runner/log/read-log.ts';
import { searchLog } from '../../runner/log/search-log.ts';
import type { LogEvent } from './follow-log.ts';
import { followLog } from './follow-log.ts';
import type { LinesPage } from './log-lines.ts';
import { lastLines, linesFrom } from './log-lines.ts';
import type { LogPosition, LogShape } from './log-position.ts';
import { timeAt } from './log-position.ts';

export interface LogSubject {
  readonly store: Store;
  readonly id: string;
  readonly attempt: number;
  readonly folder: string;
  readonly secrets: readonly string[];
  readonly isRunning: boolean;
  /** Returns the folder that has the log now; updates a copy of a log in the store. */
  refresh?(): Promise<string>;
}

/** Each match with the time by which it was written, as far as the index has it. */
interface LogSearchResult extends LogMatches {
  readonly matches: readonly (LogMatch & { readonly at: number | null })[];
  readonly next: LinePosition | null;
}

const PIECE_BYTES = 256 * 1024;
/** Longer than any secret: the beginning of a secret at the end of a growing log is held back. */
const TAIL_BYTES = 64 * 1024;

export class AttemptLogReader {
  readonly attempt: number;
  readonly #subject: LogSubject;
  readonly #options: ReadLogOptions;

  constructor(subject: LogSubject) {
    const { attempt, secrets, isRunning } = subject;
    this.attempt = attempt;
    this.#subject = subject;
    this.#options = { secrets, isRunning };
  }

  /** Returns the size of the part that may be shown now. */
  async shape(): Promise<LogShape> {
    const { folder } = this.#subject;
    const { size, dropped } = await withLog(folder, async (log) => ({ size: log.size, dropped: log.index.dropped }));
    const { to, generation, head } = await readLog(folder, { from: size - TAIL_BYTES }, this.#options);
    return { size: to, generation, head, dropped };
  }

  /** Throws when the log is truncated meanwhile: after announcing a length, the caller must not send other bytes. */
  async *bytes(range: { readonly start: number; readonly end: number }, shape: LogShape): AsyncGenerator<Buffer> {
    for (let at = range.start; at < range.end; ) {
      const maxBytes = Math.min(PIECE_BYTES, range.end - at);
      const piece = await readLog(this.#subject.folder, { from: at, maxBytes }, this.#options);
      if (piece.generation !== shape.generation || piece.bytes.length === 0)
        throw new Error(`the log was truncated during the read: ${at} of ${range.end} bytes were sent`);
      yield piece.bytes;
      at = piece.to;
    }
  }

  /** Returns a part as the LogStore port does; null where there is no log. */
  async page(from: number): Promise<LogPage | null> {
    const { folder } = this.#subject;
    const { isMissing, dropped, gaps } = await withLog(folder, async ({ file, index }) => ({
      isMissing: file === null,
      dropped: index.dropped,
      gaps: index.gaps,
    }));
    if (isMissing) return null;
    const piece = await readLog(folder, { from, maxBytes: MAX_LOG_PAGE }, this.#options);
    const bytes = wholeCharacters(piece.bytes);
    const { size, generation, head } = piece;
    const text = Buffer.from(bytes).toString();
    return { text, from: piece.from, to: piece.from + bytes.length, size, generation, head, dropped, gaps };
  }

  lines(range: { readonly from: number; readonly count: number }): Promise<LinesPage> {
    return linesFrom(this.#subject.folder, range, this.#options);
  }

  tail(count: number): Promise<LinesPage> {
    return lastLines(this.#subject.folder, count, this.#options);
  }

  /** `next` is where to continue after the limit was reached; null when the search is complete. */
  async search(query: Omit<LogQuery, 'secrets'>): Promise<LogSearchResult> {
    const { folder, secrets } = this.#subject;
    const { matches, ...rest } = await searchLog(folder, { ...query, secrets });
    const index = readLogIndex(filesOf(folder).logIndex);
    const found = { ...rest, matches: matches.map((match) => ({ ...match, at: timeAt(index, match.offset) })) };
    const last = found.stopped === 'limit' ? found.matches.at(-1) : undefined;
    if (last === undefined) return { ...found, next: null };
    const { from, line } = await readLogLines(folder, { from: last.line + 1, count: 0 });
    return { ...found, next: { line, offset: from } };
  }

  follow(from: LogPosition | null, signal: AbortSignal): AsyncGenerator<LogEvent> {
    return followLog(this.#subject, from, signal);
  }
}
