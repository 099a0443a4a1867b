/** The files of jobs in a data directory on this machine, whether a node runs on it or not. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { countBytes, fileSize, writeAtomically } from '../../library/files/file-transfer.ts';
import { readAttemptRecord } from '../../node/attempts/attempt-record.ts';
import type { Home } from '../../node/home.ts';
import { attemptFolder } from '../../node/home.ts';
import { secretsOfAttempt } from '../../node/scripts/secrets.ts';
import { readLog } from '../../runner/log/read-log.ts';
import { searchLog } from '../../runner/log/search-log.ts';
import type { FileInfo, Files, LogRef, OnBytes } from './files.ts';

export function openLocalFiles(home: Home, store: Store): Files {
  const directoryOf = ({ id, attempt }: LogRef): string => attemptFolder(home, id, attempt);
  const blobs = lazily(async () => (await import('../../files/blobs/open-blobs.ts')).openBlobs({ folder: home.blobs }));
  return {
    async readLog(log, { from, isRunning }) {
      const secrets = await secretsOfAttempt(directoryOf(log));
      return readLog(directoryOf(log), { from }, { secrets, isRunning });
    },
    async tailLog(log, bytes) {
      const secrets = await secretsOfAttempt(directoryOf(log));
      const { size } = await readLog(directoryOf(log), { from: Number.MAX_SAFE_INTEGER });
      return (await readLog(directoryOf(log), { from: size - bytes }, { secrets })).bytes;
    },
    async searchLog(log, query) {
      return searchLog(directoryOf(log), { ...query, secrets: await secretsOfAttempt(directoryOf(log)) });
    },
    endOf: async (log) => (await readAttemptRecord(directoryOf(log)))?.end ?? null,
    list: async (id) => new Attachments(store, await blobs.get()).list(id),
    put: async (id, path, onBytes) => putFile(store, await blobs.get(), { id, path, onBytes }),
    get: async (_id, file, to) => getFile(await blobs.get(), file, to),
    close: async () => (await blobs.opened())?.close(),
  };
}

interface Put {
  readonly id: string;
  readonly path: string;
  readonly onBytes: OnBytes;
}

async function putFile(store: Store, blobs: Blobs, { id, path, onBytes }: Put): Promise<FileInfo> {
  const size = await fileSize(path);
  const source = countBytes(createReadStream(path), (done) => onBytes(done, size));
  const added = await blobs.addFromStream(source, { size });
  if (!added.ok) throw new LonghaulError('bad-input', `${path}: ${added.refusal.message}`);
  const file = { name: basename(path), ...added.blob, direction: 'in' } as const;
  await new Attachments(store, blobs).put(id, file);
  return file;
}

async function getFile(blobs: Blobs, file: FileInfo, to: { path: string; onBytes: OnBytes }): Promise<void> {
  const reading = await blobs.read(file.sha256);
  if (!reading.ok) throw new LonghaulError('data-corrupt', `${file.name}: ${reading.refusal.message}`);
  await writeAtomically(
    to.path,
    countBytes(reading.stream, (done) => to.onBytes(done, file.size)),
  );
}

/** Opens on first use: most commands need no blob store. */
function lazily<T>(open: () => Promise<T>): { get(): Promise<T>; opened(): Promise<T> | null } {
  let opening: Promise<T> | null = null;
  return {
    get: () => {
      opening ??= open();
      return opening;
    },
    opened: () => opening,
  };
}
