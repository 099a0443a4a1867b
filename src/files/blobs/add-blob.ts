/**
 * Adds a blob in one call: from a stream, or from a file elsewhere on this machine. A failed add leaves nothing behind.
 */
import { createHash } from 'node:crypto';
import { type FileHandle, rm } from 'node:fs/promises';
import { publishBlob } from '../uploads/finish-upload.ts';
import { receive, type Source } from '../uploads/receive.ts';
import { refuseBlob } from './blob-refusal.ts';
import type { AddBlobResult, BlobStore } from './blob-store.ts';
import { copyHashed } from './copy-hashed.ts';
import { checkExpected, type Expected, findMismatch } from './expected-content.ts';
import { withDiskErrors } from './file-errors.ts';
import { type ForeignFile, type ForeignRules, openForeign } from './foreign-file.ts';
import { createFile } from './own-file.ts';

export interface AddStreamOptions extends Expected {
  readonly signal?: AbortSignal;
}

export interface AddPathOptions extends Expected, ForeignRules {}

/** Adds the content of a stream. Throws the error of the source when it fails. */
export async function addFromStream(
  blobStore: BlobStore,
  source: Source,
  { signal = new AbortController().signal, ...expected }: AddStreamOptions = {},
): Promise<AddBlobResult> {
  checkExpected(expected);
  if ((expected.size ?? 0) > blobStore.maxBytes) return tooLarge(blobStore);
  await blobStore.space.check(expected.size ?? 0);
  return withTemporary(blobStore, async (path, handle) => {
    const hash = createHash('sha256');
    const { space, maxBytes } = blobStore;
    const received = await receive(source, { handle, hash, position: 0, maxBytes, space, signal });
    if (received.end === 'too-large') return tooLarge(blobStore);
    if (received.end === 'cut') throw received.error;
    const content = { handle, sha256: hash.digest('hex'), size: received.length, expected };
    return (await findMismatch(content, expected)) ?? publishBlob(blobStore, path, content);
  });
}

export async function addFromPath(
  blobStore: BlobStore,
  path: string,
  options: AddPathOptions = {},
): Promise<AddBlobResult> {
  checkExpected(options);
  const foreign = await openForeign(path, options);
  if (!foreign.ok) return foreign;
  try {
    return await addForeign(blobStore, foreign, options);
  } finally {
    await foreign.handle.close();
  }
}

async function addForeign(blobStore: BlobStore, foreign: ForeignFile, expected: Expected): Promise<AddBlobResult> {
  const { size, path: name } = foreign;
  if (size > blobStore.maxBytes) return tooLarge(blobStore);
  await blobStore.space.check(size);
  return withTemporary(blobStore, async (path, handle) => {
    const { sha256, bytes } = await copyHashed(foreign.handle, handle, size);
    // A file that grows is read only up to its first size; a file that changes has no definite content.
    if (bytes !== size || !(await foreign.isUnchanged()))
      return refuseBlob('changed', `${name} changed while it was read`);
    const content = { handle, sha256, size, expected };
    return (await findMismatch(content, expected)) ?? publishBlob(blobStore, path, content);
  });
}

async function withTemporary<T>(
  blobStore: BlobStore,
  work: (path: string, handle: FileHandle) => Promise<T>,
): Promise<T> {
  const path = blobStore.layout.temporary();
  blobStore.busy.add(path);
  try {
    return await withDiskErrors('when an attachment was added', async () => {
      const handle = await createFile(path);
      if (handle === null) throw new Error(`${path} exists although its name is random`);
      try {
        return await work(path, handle);
      } finally {
        await handle.close();
      }
    });
  } finally {
    // A published blob no longer has this name.
    await rm(path, { force: true });
    blobStore.busy.delete(path);
  }
}

const tooLarge = ({ maxBytes }: BlobStore) => refuseBlob('too-large', `an attachment has at most ${maxBytes} bytes`);
