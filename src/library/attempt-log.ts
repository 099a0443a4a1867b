/**
 * The log of a handler's attempt. `openAttemptLog` is the one way to write it, whatever the store.
 *
 * With a data directory it is the file `jobs/<id>/attempts/<n>/log`. Text is appended in order and never blocks the
 * handler. Without a data directory it is only emitted as events of the worker.
 */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunningJob } from '../core/job/job.ts';
import type { Connection } from './connection.ts';

export interface AttemptLog {
  /** Appends a line (a string; its newline is added), or the bytes of an output as they are. Never waits. */
  write(text: string | Uint8Array): void;
  /** Resolves when everything is delivered. */
  close(): Promise<void>;
}

/** The parts of a connection that a log needs. */
export type LogTarget = Pick<Connection, 'home' | 'store'>;

/** Opens the log of an attempt. Nothing is created before the first write: a job that logs nothing has no log. */
export function openAttemptLog({ home }: LogTarget, job: Pick<RunningJob, 'id' | 'attempt'>): AttemptLog {
  if (home === null) return { write: () => undefined, close: async () => undefined };
  return openLogFile(attemptLogPath(home, job.id, job.attempt));
}

export function attemptLogPath(home: string, id: string, attempt: number): string {
  return join(home, 'jobs', id, 'attempts', String(attempt), 'log');
}

const NEWLINE = Buffer.from('\n');
const newline = 0x0a;

function openLogFile(path: string): AttemptLog {
  let file: FileHandle | null = null;
  let buffered: Uint8Array[] = [];
  let writing: Promise<void> | null = null;
  let isLineOpen = false;

  const writeOut = async (): Promise<void> => {
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
    file ??= await open(path, 'a', 0o600);
    while (buffered.length > 0) {
      const bytes = Buffer.concat(buffered);
      buffered = [];
      await file.appendFile(bytes);
    }
    writing = null;
  };

  return {
    write(text) {
      const isLine = typeof text === 'string';
      const bytes = isLine ? Buffer.from(text.endsWith('\n') ? text : `${text}\n`) : text;
      if (bytes.length === 0) return;
      // A line stays a line of its own after output that has not ended its last one.
      if (isLine && isLineOpen) buffered.push(NEWLINE);
      buffered.push(bytes);
      isLineOpen = bytes.at(-1) !== newline;
      writing ??= writeOut();
      // `close` awaits the error in `writing`; this only prevents an unhandled rejection before then.
      writing.catch(() => undefined);
    },
    async close() {
      try {
        await writing;
      } finally {
        await file?.close();
      }
    },
  };
}
