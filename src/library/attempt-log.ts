/**
 * The log of a handler's attempt. `openAttemptLog` is the one way to write it, whatever the store.
 *
 * With a data directory it is the file `jobs/<id>/attempts/<n>/log`. Without one, the store keeps it, up to a limit
 * (core/job/stored-log.ts); a store behind a node's API sends it to the node.
 */
import type { FileHandle } from 'node:fs/promises';
import { appendFile, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../core/job/job.ts';
import type { LostOutput } from '../core/ports/log-store.ts';
import type { Store } from '../core/ports/store.ts';
import { logFolder } from '../stores/sqlite/file-logs.ts';
import type { Connection } from './connection.ts';
import type { LogSink } from './log-writer.ts';
import { LogWriter } from './log-writer.ts';

export interface AttemptLog {
  /** Whether something was written, so that it has to be closed. */
  readonly isOpen: boolean;
  /** Appends a line (a string; its newline is added), or the bytes of an output as they are. Never waits. */
  write(text: string | Uint8Array): void;
  /** Resolves when everything is delivered, or after a few seconds if it cannot be. Never rejects. */
  close(): Promise<void>;
}

/** The parts of a connection that a log needs. */
export type LogTarget = Pick<Connection, 'home' | 'store'>;
export type LoggedJob = Pick<RunningJob, 'id' | 'attempt' | 'lease' | 'suspension'>;

/** Opens the log of an attempt. Nothing is created before the first write: most jobs log nothing. */
export function openAttemptLog(
  target: LogTarget,
  job: LoggedJob,
  onTrouble: (error: unknown) => void = () => undefined,
): AttemptLog {
  return new LazyLog(() => new LogWriter(() => openSink(target, job), { onTrouble }));
}

/** A class: one is made for every job, and an object with functions of its own would take longer to make. */
class LazyLog implements AttemptLog {
  readonly #open: () => LogWriter;
  #writer: LogWriter | null = null;

  constructor(open: () => LogWriter) {
    this.#open = open;
  }

  get isOpen(): boolean {
    return this.#writer !== null;
  }

  write(text: string | Uint8Array): void {
    this.#writer ??= this.#open();
    this.#writer.write(text);
  }

  async close(): Promise<void> {
    await this.#writer?.close();
  }
}

function openSink({ home, store }: LogTarget, job: LoggedJob): LogSink {
  return home === null ? new StoreSink(store, job) : new FileSink(logFolder(home, job.id, job.attempt));
}

class FileSink implements LogSink {
  readonly batchBytes = 512 * 1024;
  readonly pauseMs = 10;
  readonly #folder: string;
  #file: FileHandle | null = null;
  #size = 0;
  /** The batch under way, and how much of it is written: a full disk may take a part of it. */
  #batch: Uint8Array | null = null;
  #written = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async append(bytes: Uint8Array, gap: LostOutput | null): Promise<boolean> {
    const file = await this.#open();
    if (bytes !== this.#batch) [this.#batch, this.#written] = [bytes, 0];
    const start = this.#size;
    while (this.#written < bytes.length) this.#written += (await file.write(bytes, this.#written)).bytesWritten;
    this.#size = start + bytes.length;
    if (gap !== null) await appendFile(join(this.#folder, 'log.index'), gapLine(gap, start), { mode: 0o600 });
    return true;
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }

  async #open(): Promise<FileHandle> {
    if (this.#file !== null) return this.#file;
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    this.#file = await open(join(this.#folder, 'log'), 'a', 0o600);
    this.#size = (await this.#file.stat()).size;
    return this.#file;
  }
}

/** As runner/log/log-index.ts reads it. */
const gapLine = ({ from, to }: LostOutput, offset: number): string => `gap ${from} ${to} ${offset}\n`;

class StoreSink implements LogSink {
  readonly batchBytes = 64 * 1024;
  readonly pauseMs = 200;
  readonly #store: Store;
  readonly #job: LoggedJob;
  /** A character may begin in one batch and end in the next. */
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #batch: Uint8Array | null = null;
  #text = '';
  /** Null for a resumed attempt: its log has a beginning, whose end the store knows. */
  #offset: number | null;

  constructor(store: Store, job: LoggedJob) {
    this.#store = store;
    this.#job = job;
    this.#offset = job.suspension === null ? 0 : null;
  }

  /** The offset makes a repeat after a lost reply harmless. */
  async append(bytes: Uint8Array, gap: LostOutput | null): Promise<boolean> {
    if (bytes !== this.#batch) this.#text = this.#decoder.decode(bytes, { stream: true });
    this.#batch = bytes;
    const { id, lease } = this.#job;
    const attempt = { id, token: lease.token };
    if (this.#offset === null) {
      const known = await this.#store.logs.append({ ...attempt, offset: 0, text: '' });
      if (!known.ok) return false;
      this.#offset = known.end;
    }
    const output = { ...attempt, offset: this.#offset, text: this.#text, ...(gap !== null && { gap }) };
    const answer = await this.#store.logs.append(output);
    if (answer.ok) this.#offset += Buffer.byteLength(this.#text);
    return answer.ok;
  }

  async close(): Promise<void> {
    // Nothing is open.
  }
}
