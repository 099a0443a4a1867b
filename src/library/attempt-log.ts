/**
 * What a handler says of its work, line by line: one file an attempt, `jobs/<id>/attempts/<n>/log` in the home.
 *
 * Appends go out in order and never hold the handler up. Without a home the lines are only handed to whoever
 * listens to the worker.
 */

import type { FileHandle } from 'node:fs/promises';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

export interface AttemptLog {
  write(line: string): void;
  /** Resolved when every line is in the file. Rejects with the first write that failed. */
  close(): Promise<void>;
}

export function attemptLogPath(home: string, id: string, attempt: number): string {
  return join(home, 'jobs', id, 'attempts', String(attempt), 'log');
}

export function openAttemptLog(path: string): AttemptLog {
  let file: FileHandle | null = null;
  let gathered = '';
  let writing: Promise<void> | null = null;

  const writeOut = async (): Promise<void> => {
    await mkdir(join(path, '..'), { recursive: true, mode: 0o700 });
    file ??= await open(path, 'a', 0o600);
    while (gathered !== '') {
      const text = gathered;
      gathered = '';
      await file.appendFile(text);
    }
    writing = null;
  };

  return {
    write(line) {
      gathered += line.endsWith('\n') ? line : `${line}\n`;
      writing ??= writeOut();
      // The error is kept in `writing` for close(); this only stops Node from calling it unhandled before then.
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
