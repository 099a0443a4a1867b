/**
 * Access to the logs and attachments of jobs: in a data directory (local-files.ts) or over HTTP (http-files.ts). The
 * commands do not know which one they use.
 */
import type { LogMatches } from '../../runner/log/log-query.ts';

export interface LogRef {
  readonly id: string;
  readonly attempt: number;
}

export interface LogChunk {
  readonly bytes: Uint8Array;
  /** The offset of the next chunk. */
  readonly to: number;
  /** Grows when a log at its size limit is truncated: then only the bytes before `head` keep their offsets. */
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

/** Reports the bytes transferred so far and the total size. */
export type OnBytes = (done: number, size: number) => void;

export interface Files {
  /** Reads one chunk from an offset; empty if there is no more yet. `isRunning`: the log may still grow. */
  readLog(log: LogRef, range: { readonly from: number; readonly isRunning: boolean }): Promise<LogChunk>;
  /** Reads about this many bytes from the end of a log. */
  tailLog(log: LogRef, bytes: number): Promise<Uint8Array>;
  searchLog(log: LogRef, query: { readonly text?: string; readonly expression?: string }): Promise<LogMatches>;
  /** Returns null while the attempt runs, and for an attempt without a record of its end. */
  endOf(log: LogRef): Promise<AttemptEnd | null>;

  list(id: string): Promise<readonly FileInfo[]>;
  /** Attaches the file at this path under its base name. */
  put(id: string, path: string, onBytes: OnBytes): Promise<FileInfo>;
  /** Writes to a file that appears complete or not at all. */
  get(id: string, file: FileInfo, to: { readonly path: string; readonly onBytes: OnBytes }): Promise<void>;
  close(): Promise<void>;
}
