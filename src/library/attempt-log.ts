/**
 * The log of a handler: one file for each attempt, `jobs/<id>/attempts/<n>/log` in the data directory.
 *
 * Lines are appended in order and never block the handler. Without a data directory they are only emitted as events of
 * the worker.
 */
import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

export interface AttemptLog {
  write(line: string): void;
  /** Resolves when every line is in the file. Rejects with the error of the first failed write. */
  close(): Promise<void>;
}

export function attemptLogPath(home: string, id: string, attempt: number): string {
  return join(home, 'jobs', id, 'attempts', String(attempt), 'log');
}

export function openAttemptLog(path: string): AttemptLog {
  let file: FileHandle | null = null;
  let buffered = '';
  let writing: Promise<void> | null = null;

  const writeOut = async (): Promise<void> => {
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
    file ??= await open(path, 'a', 0o600);
    while (buffered !== '') {
      const text = buffered;
      buffered = '';
      await file.appendFile(text);
    }
    writing = null;
  };

  return {
    write(line) {
      buffered += line.endsWith('\n') ? line : `${line}\n`;
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
