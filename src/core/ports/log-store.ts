/**
 * The LogStore port: the logs of handlers, beside the jobs. It is used where no data directory is: a worker on Redis, in
 * memory or over HTTP. SQLite keeps them as files of its data directory.
 *
 * Offsets are bytes of UTF-8. An append has an offset in the output of the attempt, so a repeat changes nothing; a read
 * has an offset in the log as it is kept, which lacks its middle once it was cut (core/job/stored-log.ts).
 *
 * Invariant: only the holder of the job's lease appends, by its token.
 */
import type { CallOptions } from './job-store.ts';
import type { Refused } from './refusal.ts';

/** A period in which output was lost. */
export interface LostOutput {
  readonly from: number;
  readonly to: number;
}

export interface LogAppend {
  readonly id: string;
  readonly token: number;
  /** Where the text begins in the output of the attempt. */
  readonly offset: number;
  readonly text: string;
  /** Output was lost before this text. */
  readonly gap?: LostOutput;
}

/** `end`: how much of the output the store has; the next append begins there. */
export type LogAppendResult = { readonly ok: true; readonly end: number } | Refused;

export interface LogQuery {
  readonly id: string;
  readonly attempt: number;
  readonly from: number;
}

export interface StoredGap extends LostOutput {
  /** Output after this byte is missing, in offsets of that time. */
  readonly offset: number;
}

export interface LogPage {
  /** At most MAX_LOG_PAGE bytes, whole characters. */
  readonly text: string;
  readonly from: number;
  readonly to: number;
  /** The size of the log, how often it was cut, how much of its beginning every cut keeps, and how much was dropped. */
  readonly size: number;
  readonly generation: number;
  readonly head: number;
  readonly dropped: number;
  readonly gaps: readonly StoredGap[];
}

/** The log of an ended attempt as another store had it. */
export interface RestoredLog {
  readonly id: string;
  readonly attempt: number;
  readonly queue: string;
  /** The end of its job: the last write, at the latest. */
  readonly at: number;
  readonly text: string;
}

export interface LogStore {
  append(append: LogAppend, options?: CallOptions): Promise<LogAppendResult>;
  /** Returns null for an attempt without a log. */
  read(query: LogQuery, options?: CallOptions): Promise<LogPage | null>;
  /** Writes the log of a job of another store, for migration; does nothing if it has a log already. */
  restore(log: RestoredLog): Promise<void>;
}

export const MAX_LOG_PAGE = 256 * 1024;
/** The longest text of one append, in bytes. */
export const MAX_LOG_APPEND = 256 * 1024;
