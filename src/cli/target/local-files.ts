/** The files of jobs in a home folder of this machine, read and written beside a node or without one. */
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { LonghaulError } from '../../core/ports/errors.ts';
import type { Store } from '../../core/ports/store.ts';
import { Attachments } from '../../files/attachments/attachments.ts';
import type { Blobs } from '../../files/blobs/blobs.ts';
import { readAttemptRecord } from '../../node/attempts/attempt-record.ts';
import type { Home } from '../../node/home.ts';
import { attemptFolder } from '../../node/home.ts';
import { secretsOfAttempt } from '../../node/scripts/secrets.ts';
import { readLog } from '../../runner/log/read-log.ts';
import { searchLog } from '../../runner/log/search-log.ts';
import { counted, sizeOfFile, writeWhole } from '../commands/jobs/whole-file.ts';
import type { FileInfo, Files, LogPlace, OnBytes } from './files.ts';

export function openLocalFiles(home: Home, store: Store): Files {
  const folderOf = ({ id, attempt }: LogPlace): string => attemptFolder(home, id, attempt);
  const blobs = lazily(async () => (await import('../../files/blobs/open-blobs.ts')).openBlobs({ folder: home.blobs }));
  return {
    async readLog(place, { from, isRunning }) {
      const secrets = await secretsOfAttempt(folderOf(place));
      return readLog(folderOf(place), { from }, { secrets, isRunning });
    },
    async tailLog(place, bytes) {
      const secrets = await secretsOfAttempt(folderOf(place));
      const { size } = await readLog(folderOf(place), { from: Number.MAX_SAFE_INTEGER });
      return (await readLog(folderOf(place), { from: size - bytes }, { secrets })).bytes;
    },
    async searchLog(place, query) {
      return searchLog(folderOf(place), { ...query, secrets: await secretsOfAttempt(folderOf(place)) });
    },
    endOf: async (place) => (await readAttemptRecord(folderOf(place)))?.end ?? null,
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
  const size = await sizeOfFile(path);
  const source = counted(createReadStream(path), (done) => onBytes(done, size));
  const added = await blobs.addFromStream(source, { size });
  if (!added.ok) throw new LonghaulError('bad-input', `${path}: ${added.refusal.message}`);
  const file = { name: basename(path), ...added.blob, direction: 'in' } as const;
  await new Attachments(store, blobs).put(id, file);
  return file;
}

async function getFile(blobs: Blobs, file: FileInfo, to: { path: string; onBytes: OnBytes }): Promise<void> {
  const reading = await blobs.read(file.sha256);
  if (!reading.ok) throw new LonghaulError('data-corrupt', `${file.name}: ${reading.refusal.message}`);
  await writeWhole(
    to.path,
    counted(reading.stream, (done) => to.onBytes(done, file.size)),
  );
}

/** Opened with the first use: most commands touch no blob. */
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
