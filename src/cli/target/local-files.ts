/**
 * The files of jobs in a data directory on this machine, whether a node runs on it or not. A log that is not there may be
 * in the store: then a copy of it is read.
 */
import { createReadStream, existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { countBytes, fileSize, writeAtomically } from '../../library/files/file-transfer.ts';
import { readAttemptRecord } from '../../node/attempts/attempt-record.ts';
import { StoredLogCopies } from '../../node/attempts/stored-log-copies.ts';
import type { Home } from '../../node/home.ts';
import { attemptFolder } from '../../node/home.ts';
import { secretsOfAttempt } from '../../node/scripts/secrets.ts';
import { readLog } from '../../runner/log/read-log.ts';
import { searchLog } from '../../runner/log/search-log.ts';
import type { FileInfo, Files, LogRef, OnBytes } from './files.ts';

export function openLocalFiles(home: Home, store: Store): Files {
  const temporary = lazily(() => mkdtemp(join(tmpdir(), 'longhaul-logs-')));
  const copies = new StoredLogCopies(store, () => temporary.get());
  const directoryOf = async ({ id, attempt }: LogRef): Promise<string> => {
    const own = attemptFolder(home, id, attempt);
    return existsSync(own) ? own : ((await copies.refresh(id, attempt)) ?? own);
  };
  const blobs = lazily(async () => (await import('../../files/blobs/open-blobs.ts')).openBlobs({ folder: home.blobs }));
  return {
    async readLog(log, { from, isRunning }) {
      const directory = await directoryOf(log);
      return readLog(directory, { from }, { secrets: await secretsOfAttempt(directory), isRunning });
    },
    async tailLog(log, bytes) {
      const directory = await directoryOf(log);
      const secrets = await secretsOfAttempt(directory);
      const { size } = await readLog(directory, { from: Number.MAX_SAFE_INTEGER });
      return (await readLog(directory, { from: size - bytes }, { secrets })).bytes;
    },
    async searchLog(log, query) {
      const directory = await directoryOf(log);
      return searchLog(directory, { ...query, secrets: await secretsOfAttempt(directory) });
    },
    endOf: async (log) => (await readAttemptRecord(await directoryOf(log)))?.end ?? null,
    list: async (id) => new Attachments(store, await blobs.get()).list(id),
    put: async (id, path, onBytes) => putFile(store, await blobs.get(), { id, path, onBytes }),
    get: async (_id, file, to) => getFile(await blobs.get(), file, to),
    close: async () => {
      await (await blobs.opened())?.close();
      const folder = await temporary.opened();
      if (folder !== null) await rm(folder, { recursive: true, force: true });
    },
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
