/**
 * What the command line wants of a job's files, wherever they are: its logs, and its attachments. Over the files of a
 * home (local-files.ts) or over a node's HTTP (http-files.ts); nobody else knows which.
 */
import type { LogMatches } from '../../runner/log/log-query.ts';

export interface LogPlace {
  readonly id: string;
  readonly attempt: number;
}

export interface LogPiece {
  readonly bytes: Uint8Array;
  /** Where the next piece begins. */
  readonly to: number;
  /** Grows when a log at its cap was cut: then only what is before `head` is still where it was. */
  readonly generation: number;
  readonly head: number;
}

export interface AttemptEnd {
  readonly exit: number | null;
  readonly signal: string | null;
}

export interface FileInfo {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
  readonly direction: 'in' | 'out';
}

/** Told of bytes done, of how many. */
export type OnBytes = (done: number, size: number) => void;

export interface Files {
  /** From a byte on, at most some of it; empty when there is no more yet. `isRunning`: it may still grow. */
  readLog(place: LogPlace, range: { readonly from: number; readonly isRunning: boolean }): Promise<LogPiece>;
  /** The end of a log, about so many bytes. */
  tailLog(place: LogPlace, bytes: number): Promise<Uint8Array>;
  searchLog(place: LogPlace, query: { readonly text?: string; readonly expression?: string }): Promise<LogMatches>;
  /** Null while it runs, and for an attempt of which nothing was noted. */
  endOf(place: LogPlace): Promise<AttemptEnd | null>;

  list(id: string): Promise<readonly FileInfo[]>;
  /** Under the name of the file at this path. */
  put(id: string, path: string, onBytes: OnBytes): Promise<FileInfo>;
  /** Into a file that appears whole or not at all. */
  get(id: string, file: FileInfo, to: { readonly path: string; readonly onBytes: OnBytes }): Promise<void>;
  close(): Promise<void>;
}
